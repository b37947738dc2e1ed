// The collector of traces of bench/run.ts, in a process of its own: it takes everything, and keeps nothing.
import { serveBodies } from './serve-bodies.ts'

serveBodies((_body, response) => {
  response.writeHead(200, { 'content-type': 'application/x-protobuf' })
  response.end()
})
