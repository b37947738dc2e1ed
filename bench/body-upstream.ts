// The upstream of bench/bodies.ts for large bodies, in a process of its own: it reads each body, keeps nothing of it, and
// answers in the format of the path.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { jsonAnswer } from './answers.ts'

const messagesAnswer = Buffer.from(
  JSON.stringify({
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model: 'bench',
    content: [{ type: 'text', text: 'Seen.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 200, output_tokens: 2 },
  }),
)

let requests = 0
const server = createServer((request, response) => {
  requests++
  request.on('data', () => {})
  request.on('end', () => {
    const answer = request.url?.endsWith('/messages') === true ? messagesAnswer : jsonAnswer
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
    response.end(answer)
  })
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('message', () => {
  process.send?.({ requests })
  requests = 0
})
process.on('disconnect', () => process.exit(0))
