import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { startCountingPostgres } from './counting-postgres.ts'
import type { Exchange, FromPeers, PeersData, ToPeers } from './peers.ts'
import { type RawRequest, startRawUpstream } from './raw-upstream.ts'

/** A client, an upstream and a way to Postgres, in a thread of their own: what they make is not what the gateway makes. */

const { postgres: server, counted }: PeersData = workerData
const post = (message: FromPeers) => parentPort?.postMessage(message)
const postgres = await startCountingPostgres(server, counted)
let running: { exchange: Exchange; called: RawRequest | undefined } | undefined
let client: Socket | undefined
let heard = ''
let onHeard = () => {}

const upstream = await startRawUpstream({
  onRequest(called) {
    if (running === undefined) return
    running.called = called
    post({ type: 'called' })
  },
})

parentPort?.on('message', (message: ToPeers) => {
  switch (message.type) {
    case 'connect':
      client = connect(message.port, '127.0.0.1', () => post({ type: 'connected' }))
      client.setNoDelay()
      client.setEncoding('latin1').on('data', (data: string) => {
        heard += data
        onHeard()
      })
      return
    case 'ask':
      running = { exchange: message.exchange, called: undefined }
      heard = ''
      onHeard = postWhenWhole
      client?.write(message.exchange.request)
      return
    case 'answer':
      if (running?.called !== undefined) answer(running.called.socket, running.exchange.answer)
      return
    case 'take':
      post({ type: 'taken', traffic: postgres.take() })
      return
    case 'end':
      client?.destroy()
      void Promise.all([postgres.close(), upstream.close()]).then(() => parentPort?.close())
      return
  }
})

post({ type: 'ready', postgresPort: postgres.port, upstreamUrl: upstream.url })

/** The next piece goes out when the client has the one before it. So each comes to the gateway alone, however busy the machine. */
function answer(socket: Socket, [piece, ...rest]: Exchange['answer']): void {
  if (piece === undefined) return
  onHeard = () => {
    if (piece.shows === undefined || !heard.includes(piece.shows)) return postWhenWhole()
    answer(socket, rest)
  }
  socket.write(piece.bytes)
}

function postWhenWhole(): void {
  const headEnd = heard.indexOf('\r\n\r\n') + 4
  if (headEnd < 4) return
  const length = /^content-length: (\d+)/im.exec(heard.slice(0, headEnd))?.[1]
  const isWhole =
    length === undefined ? heard.endsWith('\r\n0\r\n\r\n') : heard.length >= headEnd + Number(length)
  if (isWhole) post({ type: 'answered', heard })
}
