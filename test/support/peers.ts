import { Worker } from 'node:worker_threads'
import type { PostgresTraffic } from './counting-postgres.ts'

/** All that a gateway is connected to, in a thread of its own. */
export interface Peers {
  /** Of Postgres, by way of this thread, which counts. */
  postgresPort: number
  /** Without a path. */
  upstreamUrl: string
  /** The client opens its one connection. */
  connect(gatewayPort: number): Promise<void>
  /** The client asks; when `mayAnswer` resolves, the upstream answers. Resolves with all that the client has heard, in Latin-1. */
  exchange(exchange: Exchange, mayAnswer: () => Promise<unknown>): Promise<string>
  /** What went to Postgres since the last call. */
  takeTraffic(): Promise<PostgresTraffic>
  close(): Promise<void>
}

/** One request, and what the upstream answers to it. */
export interface Exchange {
  /** All bytes that the client sends. */
  request: string
  /** Written one by one: the next when the client has heard what this one `shows`. */
  answer: readonly { bytes: string; shows?: string }[]
}

export interface PeersData {
  /** The URL of the server. */
  postgres: string
  /** How the names of the sessions begin whose traffic is counted. */
  counted: string
}

export type ToPeers =
  | { type: 'connect'; port: number }
  | { type: 'ask'; exchange: Exchange }
  | { type: 'answer' }
  | { type: 'take' }
  | { type: 'end' }

/** `called`: the upstream has the whole request. `answered`: the client has the whole answer. */
export type FromPeers =
  | { type: 'ready'; postgresPort: number; upstreamUrl: string }
  | { type: 'connected' }
  | { type: 'called' }
  | { type: 'answered'; heard: string }
  | { type: 'taken'; traffic: PostgresTraffic }

export async function startPeers(data: PeersData): Promise<Peers> {
  const worker = new Worker(new URL('./peers-thread.ts', import.meta.url), { workerData: data })
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const failed = new Promise<never>((_, reject) => worker.once('error', reject))
  const ended = Promise.race([failed, exited]).then(() => {
    throw new Error('the thread of the peers has ended')
  })
  ended.catch(() => {})
  const post = (message: ToPeers) => worker.postMessage(message)
  /** The next message. Another one than this: the gateway has answered by itself. */
  const next = <Type extends FromPeers['type']>(type: Type) => {
    const message = new Promise<Extract<FromPeers, { type: Type }>>((resolve, reject) =>
      worker.once('message', (message: FromPeers) => {
        if (isOf(message, type)) resolve(message)
        else reject(new Error(`"${type}" was expected: ${JSON.stringify(message)}`))
      }),
    )
    return Promise.race([message, ended])
  }
  const { postgresPort, upstreamUrl } = await next('ready')
  return {
    postgresPort,
    upstreamUrl,
    async connect(port) {
      const connected = next('connected')
      post({ type: 'connect', port })
      await connected
    },
    async exchange(exchange, mayAnswer) {
      const called = next('called')
      post({ type: 'ask', exchange })
      await called
      await mayAnswer()
      const answered = next('answered')
      post({ type: 'answer' })
      return (await answered).heard
    },
    async takeTraffic() {
      const taken = next('taken')
      post({ type: 'take' })
      return (await taken).traffic
    },
    async close() {
      post({ type: 'end' })
      await exited
    },
  }
}

function isOf<Type extends FromPeers['type']>(
  message: FromPeers,
  type: Type,
): message is Extract<FromPeers, { type: Type }> {
  return message.type === type
}
