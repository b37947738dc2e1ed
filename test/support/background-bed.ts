import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI from 'openai'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import type { Reached, Start } from './bed.ts'
import { type Database, freshDatabase, openDatabase } from './database.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { type RedisServer, startRedis } from './redis.ts'
import { until } from './until.ts'

export const keepingKey = 'background-key-of-tenant-a1'
/** Sees only what it asked for itself. */
export const ownKey = 'background-own-key-of-a-001'
export const forgettingKey = 'background-forgetting-of-a1'
export const otherKey = 'background-key-of-tenant-b1'
/** A key of a tenant with one dollar. */
export const paidKey = 'background-key-of-paid-0001'

/**
 * An upstream that answers each call differently: with the words `RUN.0 RUN.1 ...`, where RUN is how often it was asked the same. The
 * text says how: `words:N`, `gap:MS` between them, `hold:K` waits after the first K words for `release`, `status:S` refuses so often
 * as `times:T` says.
 */
export interface WordUpstream {
  url: string
  /** How often it was asked this text. */
  calls(text: string): number
  /** Calls whose client is still there. */
  open(): number
  release(): void
  hold(): void
  close(): Promise<void>
}

async function startWordUpstream(): Promise<WordUpstream> {
  const counts = new Map<string, number>()
  const running = new Set<ServerResponse>()
  let isHolding = true
  let released = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    let raw = ''
    for await (const chunk of request.setEncoding('utf8')) raw += chunk
    const { messages } = JSON.parse(raw) as { messages: { content: unknown }[] }
    const text = textOf(messages.at(-1)?.content)
    const run = (counts.get(text) ?? 0) + 1
    counts.set(text, run)
    running.add(response)
    response.once('close', () => running.delete(response))
    const status = numberIn(text, 'status') ?? 200
    if (status !== 200 && run <= (numberIn(text, 'times') ?? Number.POSITIVE_INFINITY)) {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: `refused with ${status}`, type: 'server_error' } }))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const hold = numberIn(text, 'hold')
    const words = numberIn(text, 'words') ?? 3
    for (let at = 0; at < words && !response.destroyed; at++) {
      if (at === hold && isHolding) await Promise.race([released.promise, closed(response)])
      response.write(
        frame({ choices: [{ index: 0, delta: { content: `${run}.${at} ` }, finish_reason: null }] }),
      )
      await sleep(numberIn(text, 'gap') ?? 0)
    }
    response.write(frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }))
    response.write(
      frame({
        choices: [],
        usage: { prompt_tokens: 10, completion_tokens: words, total_tokens: 10 + words },
      }),
    )
    response.end('data: [DONE]\n\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls: (text) => counts.get(text) ?? 0,
    open: () => running.size,
    release() {
      isHolding = false
      released.resolve()
    },
    hold() {
      isHolding = true
      released = Promise.withResolvers()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const closed = (response: ServerResponse) => new Promise((resolve) => response.once('close', resolve))

const frame = (chunk: object) =>
  `data: ${JSON.stringify({ id: 'chunk', object: 'chat.completion.chunk', created: 1, model: 'words', ...chunk })}\n\n`

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map((part) => String(part?.text ?? '')).join('') : ''
}

function numberIn(text: string, name: string): number | undefined {
  const found = new RegExp(`\\b${name}:(\\d+)`).exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}

export interface BackgroundBed<T extends Reached = Gateway> {
  api: T
  upstream: WordUpstream
  database: Database
  databaseUrl: string
  redis: RedisServer | undefined
  startWorker(env?: Record<string, string>): Promise<T>
  startApi(env?: Record<string, string>): Promise<T>
  client(options?: { key?: string; url?: string; headers?: Record<string, string> }): OpenAI
  /** Accepted: the id of the answer. */
  submit(input: string, key?: string): Promise<string>
  ended(id: string, key?: string): Promise<OpenAI.Responses.Response>
  row(id: string): Promise<Record<string, unknown>>
  differences(): Promise<string[]>
  close(): Promise<void>
}

export const requestIdOf = (answerId: string) =>
  answerId.replace(/^resp_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

function yaml(upstreamUrl: string, protocol: string): string {
  return `
models:
  - { id: words, context_length: 10000, max_output_tokens: 1000, price: { input: "1", output: "2" } }
channels:
  - { name: words, protocols: { ${protocol}: ${upstreamUrl} }, api_keys: [credential-of-words-1], models: [words], concurrency: 1000, allow_private_address: true }
groups:
  - { name: keeping, models: ['*'], channels: ['*'], responses: { store: true, days: 2 } }
tenants:
  - name: a
    keys:
      - { name: keeping, group: keeping, secret: ${keepingKey} }
      - { name: own, group: keeping, secret: ${ownKey}, usage_scope: key }
      - { name: forgetting, group: keeping, secret: ${forgettingKey}, responses: { store: false } }
  - name: b
    keys: [{ name: other, group: keeping, secret: ${otherKey} }]
  - name: paid
    balance_usd: "1.00"
    keys: [{ name: paid, group: keeping, secret: ${paidKey} }]
`
}

export interface BackgroundBedOptions {
  backend?: 'postgres' | 'redis'
  role?: 'api' | 'all'
  env?: Record<string, string>
  /** Instead of the upstream of words. */
  channel?: { url: string; protocol: string }
}

/** Its processes are inside that of the test. */
export function startBackgroundBed(options: BackgroundBedOptions): Promise<BackgroundBed> {
  return makeBackgroundBed(startGateway, options)
}

/** One whose processes `startOne` starts. */
export async function makeBackgroundBed<T extends Reached>(
  startOne: Start<T>,
  options: BackgroundBedOptions,
): Promise<BackgroundBed<T>> {
  const [{ url: databaseUrl, drop }, upstream, redis] = await Promise.all([
    freshDatabase(),
    startWordUpstream(),
    options.backend === 'redis' ? startRedis() : undefined,
  ])
  const processes: T[] = []
  const start = async (env: Record<string, string>, dataDir?: string) => {
    const started = await startOne({
      databaseUrl,
      gatewayYaml: yaml(options.channel?.url ?? upstream.url, options.channel?.protocol ?? 'openai-chat'),
      ...(dataDir === undefined ? {} : { dataDir }),
      env: {
        SECRET_KEY: 'a-secret-key-for-tests-of-32-characters',
        SHIP_INTERVAL_MS: '20',
        IMAGE_SWEEP_MS: '200',
        IMAGE_LEASE_MS: '1500',
        IMAGE_BACKOFF_MS: '20',
        WEBHOOK_PRIVATE_ADDRESSES: 'allow',
        WEBHOOK_BACKOFF_MS: '50',
        ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
        ...options.env,
        ...env,
      },
    })
    processes.push(started)
    return started
  }
  const api = await start({ ROLE: options.role ?? 'all' })
  const database = openDatabase(databaseUrl)
  const client: BackgroundBed<T>['client'] = ({ key = keepingKey, url = api.url, headers = {} } = {}) =>
    new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders: headers })
  return {
    api,
    upstream,
    database,
    databaseUrl,
    redis,
    startWorker: (env = {}) => start({ ROLE: 'worker', ...env }, api.dataDir),
    startApi: (env = {}) => start({ ROLE: 'api', ...env }, api.dataDir),
    client,
    async submit(input, key) {
      const asked = { model: 'words', background: true, input }
      const { id } = await client(key === undefined ? {} : { key }).responses.create(asked)
      return id
    },
    async ended(id, key) {
      return await until(async () => {
        const answer = await client(key === undefined ? {} : { key }).responses.retrieve(id)
        return answer.status === 'queued' || answer.status === 'in_progress' ? undefined : answer
      }).catch((error) => {
        const logs = processes.map((one) => one.stderr()).join('\n')
        throw new Error(`${id} has not ended\n${logs}`, { cause: error })
      })
    },
    row: (id) =>
      until(async () => (await database.sql`SELECT * FROM requests WHERE id = ${requestIdOf(id)}`)[0]),
    async differences() {
      const { findings } = await verifyLedger(database.sql)
      return findings
        .filter(({ differences }) => differences > 0)
        .map(({ rule, samples }) => `${rule}: ${samples}`)
    },
    async close() {
      upstream.release()
      await Promise.all(processes.map((one) => one.stop().catch(() => null)))
      await upstream.close()
      await redis?.stop()
      await database.close()
      await drop()
    },
  }
}
