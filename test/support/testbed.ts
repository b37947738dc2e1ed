import { type Database, freshDatabase, openDatabase } from './database.ts'
import { startTollgate, type TollgateProcess } from './tollgate.ts'
import { until } from './until.ts'
import { type ScriptedUpstream, startUpstream } from './upstream.ts'

/** A real Tollgate between a real Postgres and a scripted upstream. */
export interface Testbed {
  tollgate: TollgateProcess
  upstream: ScriptedUpstream
  database: Database
  databaseUrl: string
  /** POST to /v1/chat/completions. Default key: `freeKey`. */
  chat(
    body: unknown,
    options?: { key?: string; headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Response>
  /** Wait for the row of the usage log with this id. Rejects after 30 s. */
  row(id: string | null): Promise<Record<string, unknown>>
  rows(): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

export const secretKey = 'a-secret-key-for-tests-of-32-characters'
/** A key of tenant `free`, whose money is recorded but not limited. */
export const freeKey = 'free-key-for-tests-0001'
/** A key of tenant `paid`, which has one dollar. */
export const paidKey = 'paid-key-for-tests-0001'
/** A key of tenant `free` in group `abort`: the upstream call ends when the client leaves. */
export const abortKey = 'abort-key-for-tests-001'

/** One channel for all models. The upstream knows model `main` by another name. Tenant `paid` has one dollar. */
export function gatewayYaml(upstreamUrl: string, extra = ''): string {
  return `
models:
  - id: main
    context_length: 1000
    max_output_tokens: 100
    price: { input: "1000", output: "2000", cache_read: "500" }
  - id: priced
    context_length: 1000
    max_output_tokens: 100
    price: { input: "1", output: "2" }
  - id: '*'
channels:
  - name: scripted
    protocols: { openai-chat: ${upstreamUrl} }
    api_keys: [ "upstream-credential-0001" ]
    models: { main: upstream-main, priced: priced, '*': '*' }
    concurrency: 10000
    allow_private_address: true
groups:
  - { name: default, models: ['*'], channels: ['*'], client_gone: { policy: drain, seconds: 5 } }
  - { name: abort, models: ['*'], channels: ['*'], client_gone: { policy: abort, seconds: 0 } }
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${freeKey} }
      - { name: abort, group: abort, secret: ${abortKey} }
  - name: paid
    balance_usd: "1.00"
    keys:
      - { name: paid, group: default, secret: ${paidKey} }
${extra}`
}

/** The same, where all models have a price and tenant `paid` has money for all: no request of the load is refused. */
export function plentifulYaml(upstreamUrl: string): string {
  const any = `{ id: '*', context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }`
  return gatewayYaml(upstreamUrl).replace("id: '*'", any).replace('"1.00"', '"1000"')
}

export async function startTestbed(
  options: { env?: Record<string, string>; yaml?: (upstreamUrl: string) => string; nodeArgs?: string[] } = {},
): Promise<Testbed> {
  const [{ url, drop }, upstream] = await Promise.all([freshDatabase(), startUpstream()])
  const tollgate = await startTollgate({
    databaseUrl: url,
    gatewayYaml: (options.yaml ?? gatewayYaml)(upstream.url),
    env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20', ...options.env },
    ...(options.nodeArgs === undefined ? {} : { nodeArgs: options.nodeArgs }),
  })
  const database = openDatabase(url)
  const rows = async () => [...(await database.sql`SELECT * FROM requests ORDER BY id`)]
  return {
    tollgate,
    upstream,
    database,
    databaseUrl: url,
    chat: (body, { key = freeKey, headers = {}, signal } = {}) =>
      fetch(`${tollgate.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    row: (id) =>
      until(async () => (await database.sql`SELECT * FROM requests WHERE id = ${id}`)[0]).catch((error) => {
        throw new Error(`no row ${id}\n${tollgate.stderr()}`, { cause: error })
      }),
    rows,
    async close() {
      await tollgate.stop()
      await upstream.close()
      await database.close()
      await drop()
    },
  }
}
