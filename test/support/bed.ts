import { type Database, freshDatabase, openDatabase } from './database.ts'
import { freeKey } from './gateway-yaml.ts'
import { until } from './until.ts'
import { type ScriptedUpstream, startUpstream } from './upstream.ts'

/** A real Tollgate between a real Postgres and a scripted upstream. */
export interface Bed {
  tollgate: Reached
  upstream: ScriptedUpstream
  database: Database
  databaseUrl: string
  /** POST to /v1/chat/completions. Default key: `freeKey`. */
  chat(
    body: unknown,
    options?: { key?: string; headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Response>
  /** Wait for the row of the usage log with this id. Rejects after 30 s. */
  row(id: string | null | undefined): Promise<Record<string, unknown>>
  /** The usage log. */
  rows(): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

/** A Tollgate, wherever it runs: inside the process of the test, or in one of its own. */
export interface Reached {
  /** Origin, without `/v1`. */
  url: string
  port: number
  /** The directory of its journal. */
  dataDir: string
  /** What it has printed. */
  stdout(): string
  /** What it has logged. */
  stderr(): string
  stop(): Promise<unknown>
}

/** What a bed needs to start one: `startGateway` or `startTollgate`. */
export type Start<T extends Reached> = (options: {
  databaseUrl: string
  gatewayYaml: string | undefined
  env?: Record<string, string>
  dataDir?: string
}) => Promise<T>

/** A bed around what `start` starts. */
export async function makeBed<T extends Reached & { ship?(): Promise<void> }>(
  start: (at: { databaseUrl: string; upstreamUrl: string }) => Promise<T>,
): Promise<Bed & { tollgate: T }> {
  const [{ url: databaseUrl, drop }, upstream] = await Promise.all([freshDatabase(), startUpstream()])
  const tollgate = await start({ databaseUrl, upstreamUrl: upstream.url })
  const database = openDatabase(databaseUrl)
  return {
    tollgate,
    upstream,
    database,
    databaseUrl,
    chat: (body, { key = freeKey, headers = {}, signal } = {}) =>
      fetch(`${tollgate.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    row: (id) =>
      until(async () => {
        await tollgate.ship?.()
        return (await database.sql`SELECT * FROM requests WHERE id = ${id ?? null}`)[0]
      }).catch((error) => {
        throw new Error(`no row ${id}\n${tollgate.stderr()}`, { cause: error })
      }),
    async rows() {
      await tollgate.ship?.()
      return [...(await database.sql`SELECT * FROM requests ORDER BY id`)]
    },
    async close() {
      await tollgate.stop()
      await upstream.close()
      await database.close()
      await drop()
    },
  }
}
