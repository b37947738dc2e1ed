import OpenAI from 'openai'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import type { Reached, Start } from './bed.ts'
import { type Database, freshDatabase, openDatabase } from './database.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { type ImageUpstream, startImageUpstream } from './image-upstream.ts'
import { type RedisServer, startRedis } from './redis.ts'
import { until } from './until.ts'

/** A real Tollgate that makes images, with a real queue, and an upstream that counts its calls. */
export interface ImageTestbed<T extends Reached = Gateway> {
  api: T
  upstream: ImageUpstream
  database: Database
  databaseUrl: string
  redis: RedisServer | undefined
  openai: OpenAI
  /** Start another worker on the same database, queue and directory. It applies `yaml`; default: that of the testbed. */
  startWorker(env?: Record<string, string>, yaml?: string): Promise<T>
  /** Start another API process. */
  startApi(env?: Record<string, string>): Promise<T>
  /** Call the API process with a key. Default method: POST with a body, else GET. */
  call(
    path: string,
    options?: {
      body?: unknown
      key?: string
      method?: string
      headers?: Record<string, string>
      signal?: AbortSignal
    },
  ): Promise<Response>
  /** Ask for an image without waiting for it. Returns the id of the job. */
  submit(body: Record<string, unknown>, key?: string): Promise<string>
  /** Wait for the end of a job; answers the job as its client sees it. Rejects after 30 s. */
  ended(id: string, key?: string): Promise<Job>
  row(id: string): Promise<Record<string, unknown> | undefined>
  /** What `ledger:verify` finds. */
  differences(): Promise<string[]>
  close(): Promise<void>
}

export interface Job {
  id: string
  status: string
  model: string
  position: number | null
  attempts: { channel: string; status: number | null; error: { kind: string; message: string } | null }[]
  partial_images: { index: number; url: string }[]
  result: { data: { url: string; content_type: string; bytes: number; revised_prompt?: string }[] } | null
  error: { kind: string; message: string } | null
  cost_nano_usd: string | null
  webhook: { status: string; tries: number } | null
}

export const freeKey = 'free-key-for-images-0001'
export const paidKey = 'paid-key-for-images-0001'
export const otherKey = 'other-key-for-images-001'

/**
 * Model `draw` is made by an upstream of the images format, `chat-draw` and `responses-draw` by upstreams of these
 * formats. Tenant `paid` has 10 cents.
 */
export function imagesYaml(upstreamUrl: string, extra = ''): string {
  return `
models:
  - id: draw
    price: { image: "0.04", images: [ { quality: low, usd: "0.01" } ] }
    images: { sizes: ["1024x1024", "512x512"], qualities: [low, high], images_max: 4, partial_images_max: 3, prompt_characters_max: 1000 }
  - { id: chat-draw, price: { image: "0.04" }, images: {} }
  - { id: responses-draw, price: { image: "0.04" }, images: {} }
  - { id: words }
channels:
  - name: painter
    protocols: { openai-images: ${upstreamUrl} }
    api_keys: [ "upstream-credential-0001" ]
    models: { draw: upstream-draw }
    allow_private_address: true
  - { name: chat, protocols: { openai-chat: ${upstreamUrl} }, api_keys: [ "" ], models: [ chat-draw, words ], allow_private_address: true }
  - { name: responses, protocols: { openai-responses: ${upstreamUrl} }, api_keys: [ "" ], models: [ responses-draw ], allow_private_address: true }
${extra}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
  - { name: first, models: ['*'], channels: ['*'], image_priority: 50, client_gone: { policy: abort, seconds: 0 } }
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${freeKey} }
  - name: other
    keys:
      - { name: other, group: first, secret: ${otherKey} }
  - name: paid
    balance_usd: "0.10"
    keys:
      - { name: paid, group: default, secret: ${paidKey} }
`
}

const secretKey = 'a-secret-key-for-tests-of-32-characters'

export interface ImageTestbedOptions {
  backend: 'postgres' | 'redis'
  /** Of the first process. Default: `api`; then the test starts the workers. */
  role?: 'api' | 'all'
  env?: Record<string, string>
  yaml?: (upstreamUrl: string) => string
  /** A database on a server that the test may stop. Default: a fresh database. */
  databaseUrl?: string
}

/** Its processes are inside that of the test. */
export function startImageTestbed(options: ImageTestbedOptions): Promise<ImageTestbed> {
  return makeImageTestbed(startGateway, options)
}

/** One whose processes `startOne` starts. */
export async function makeImageTestbed<T extends Reached>(
  startOne: Start<T>,
  options: ImageTestbedOptions,
): Promise<ImageTestbed<T>> {
  const [{ url: databaseUrl, drop }, upstream, redis] = await Promise.all([
    options.databaseUrl === undefined ? freshDatabase() : { url: options.databaseUrl, drop: async () => {} },
    startImageUpstream(),
    options.backend === 'redis' ? startRedis() : undefined,
  ])
  const processes: T[] = []
  const gatewayYaml = (options.yaml ?? imagesYaml)(upstream.url)
  const start = async (env: Record<string, string>, dataDir?: string, yaml = gatewayYaml) => {
    const started = await startOne({
      databaseUrl,
      gatewayYaml: yaml,
      ...(dataDir === undefined ? {} : { dataDir }),
      env: {
        SECRET_KEY: secretKey,
        SHIP_INTERVAL_MS: '20',
        IMAGE_SWEEP_MS: '200',
        IMAGE_LEASE_MS: '2000',
        IMAGE_BACKOFF_MS: '20',
        WEBHOOK_PRIVATE_ADDRESSES: 'allow',
        ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
        // Tests read the attempts of jobs.
        ROUTING_HEADERS: 'show',
        ...options.env,
        ...env,
      },
    })
    processes.push(started)
    return started
  }
  const api = await start({ ROLE: options.role ?? 'api' })
  const database = openDatabase(databaseUrl)

  const call: ImageTestbed<T>['call'] = (path, { body, key = freeKey, method, headers = {}, signal } = {}) =>
    fetch(`${api.url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })

  return {
    api,
    upstream,
    database,
    databaseUrl,
    redis,
    openai: new OpenAI({ apiKey: freeKey, baseURL: `${api.url}/v1`, maxRetries: 0 }),
    startWorker: (env = {}, yaml) => start({ ROLE: 'worker', ...env }, api.dataDir, yaml),
    startApi: (env = {}) => start({ ROLE: 'api', ...env }, api.dataDir),
    call,
    async submit(body, key) {
      return await until(async () => {
        const answer = await call('/v1/images/generations', {
          body: { model: 'draw', ...body },
          headers: { prefer: 'respond-async' },
          ...(key === undefined ? {} : { key }),
        })
        const job = (await answer.json()) as Job
        // 200: the job had ended before the gateway answered.
        if (answer.status === 202 || answer.status === 200) return job.id
        // On a busy machine Postgres may not answer in time. The client tries again.
        if (answer.status === 503) return undefined
        throw new Error(`not accepted: ${answer.status} ${JSON.stringify(job)}`)
      })
    },
    async ended(id, key) {
      let last: Job | undefined
      const ended = async () => {
        const answer = await call(`/v1/images/generations/${id}`, key === undefined ? {} : { key })
        last = (await answer.json()) as Job
        if (answer.status !== 200) throw new Error(`no job: ${answer.status} ${JSON.stringify(last)}`)
        return ['queued', 'running'].includes(last.status) ? undefined : last
      }
      return await until(ended).catch((error) => {
        const logs = processes.map((one) => one.stderr()).join('\n')
        throw new Error(`${JSON.stringify(last)} has not ended\n${logs}`, { cause: error })
      })
    },
    async row(id) {
      const [row] = await database.sql`SELECT * FROM requests WHERE id = ${id}`
      return row
    },
    async differences() {
      const { findings } = await verifyLedger(database.sql)
      return findings
        .filter(({ differences }) => differences > 0)
        .map(({ rule, samples }) => `${rule}: ${samples}`)
    },
    async close() {
      await Promise.all(processes.map((one) => one.stop().catch(() => null)))
      await upstream.close()
      await redis?.stop()
      await database.close()
      await drop()
    },
  }
}
