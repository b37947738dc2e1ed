import type { Reached, Start } from './bed.ts'
import { type SeenCollector, startCollector } from './collector.ts'
import { freshDatabase } from './database.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { type ImageUpstream, startImageUpstream } from './image-upstream.ts'
import { type ScriptedUpstream, startUpstream } from './upstream.ts'

const secretKey = 'a-secret-key-for-tests-of-32-characters'
export const tracedKey = 'key-of-a-traced-tenant-0001'
export const paidKey = 'key-of-a-tenant-with-money1'
const upstreamSecret = 'upstream-credential-of-traces'

/** A gateway that exports traces, with upstreams behind it. */
export interface Traced<T extends Reached = Gateway> {
  tollgate: T
  collector: SeenCollector
  upstream: ScriptedUpstream
  painter: ImageUpstream
  /** Start another process on the same database. */
  start(env: Record<string, string>): Promise<T>
  post(path: string, body: unknown, options?: PostOptions): Promise<Response>
  close(): Promise<void>
}

interface PostOptions {
  key?: string | undefined
  headers?: Record<string, string>
  signal?: AbortSignal
}

function tracedYaml(chatUrl: string, imageUrl: string): string {
  return `
models:
  - { id: good, context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }
  - { id: retried, context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }
  - { id: withheld }
  - { id: draw, price: { image: "0.04" }, images: {} }
  - { id: error-500 }
  - { id: paced-2000x20 }
channels:
  - { name: failing, priority: 10, protocols: { openai-chat: ${chatUrl} }, api_keys: [ ${upstreamSecret}-1 ], models: { retried: error-500 }, allow_private_address: true }
  - { name: scripted, protocols: { openai-chat: ${chatUrl} }, api_keys: [ ${upstreamSecret}-2 ], models: { good: good, retried: retried, error-500: error-500, paced-2000x20: paced-2000x20 }, allow_private_address: true }
  - { name: secretive, protocols: { openai-chat: ${chatUrl} }, api_keys: [ ${upstreamSecret}-3 ], models: { withheld: withheld }, allow_private_address: true }
  - { name: painter, protocols: { openai-images: ${imageUrl} }, api_keys: [ ${upstreamSecret}-4 ], models: { draw: draw }, allow_private_address: true }
groups:
  - { name: default, models: ['*'], channels: ['*'], client_gone: { policy: abort, seconds: 0 }, responses: { store: true, days: 2 } }
tenants:
  - name: a-name-that-no-span-has
    keys: [{ name: a-key-name-that-no-span-has, group: default, secret: ${tracedKey} }]
  - { name: paid, balance_usd: "5", keys: [{ name: paid, group: default, secret: ${paidKey} }] }
`
}

/** Its processes are inside that of the test. */
export function startTraced(env?: Record<string, string>, ownDatabaseUrl?: string): Promise<Traced> {
  return makeTraced(startGateway, env, ownDatabaseUrl)
}

/**
 * One whose processes `startOne` starts. All traces are sampled unless `env` says otherwise. `ownDatabaseUrl`: a database of the
 * caller's. Default: a fresh one.
 */
export async function makeTraced<T extends Reached>(
  startOne: Start<T>,
  env: Record<string, string> = {},
  ownDatabaseUrl?: string,
): Promise<Traced<T>> {
  const [{ url: databaseUrl, drop }, collector, upstream, painter] = await Promise.all([
    ownDatabaseUrl === undefined ? freshDatabase() : { url: ownDatabaseUrl, drop: async () => {} },
    startCollector(),
    startUpstream(),
    startImageUpstream(),
  ])
  const processes: T[] = []
  const start: Traced<T>['start'] = async (own) => {
    const tollgate = await startOne({
      databaseUrl,
      // Images are files there, also those that a worker makes.
      ...(processes[0] !== undefined && { dataDir: processes[0].dataDir }),
      gatewayYaml: tracedYaml(upstream.url, painter.url),
      env: {
        SECRET_KEY: secretKey,
        SHIP_INTERVAL_MS: '20',
        IMAGE_SWEEP_MS: '200',
        // On a machine that freezes for seconds too, Postgres is not down.
        ADMIT_MS: '30000',
        WEBHOOK_PRIVATE_ADDRESSES: 'allow',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_TRACES_SAMPLER: 'parentbased_always_on',
        OTEL_BSP_SCHEDULE_DELAY: '50',
        ...env,
        ...own,
      },
    })
    processes.push(tollgate)
    return tollgate
  }
  const tollgate = await start({})
  return {
    tollgate,
    collector,
    upstream,
    painter,
    start,
    post: (path, body, { key = tracedKey, headers = {}, signal } = {}) =>
      fetch(`${tollgate.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    async close() {
      // A gateway waits for its collector, for a while.
      collector.behave('take')
      await Promise.all(processes.map((each) => each.stop()))
      await Promise.all([upstream.close(), painter.close(), collector.close()])
      await drop()
    },
  }
}
