import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { parentPid, postgresCpuUs } from './process-cpu.ts'
import { startTemporary } from './temporary-postgres.ts'

/** The database of Tollgate's usage log, as the bench reads it. */
export interface UsageLog {
  url: string
  /** For another database on the same server. */
  serverUrl: string
  version: string
  /** CPU of the whole Postgres so far, in microseconds; NaN when it runs on another machine. */
  cpuUs(): number
  /** The number of rows. Waits up to 15 s until it is `wanted`, if that is given. */
  rows(wanted?: number): Promise<number>
  close(): Promise<void>
}

/** A new database on the server of `serverUrl`, or on an embedded Postgres with `settings` that `close` removes. */
export async function openUsageLog(
  serverUrl: string | undefined,
  settings: Record<string, string> = {},
): Promise<UsageLog> {
  const server = serverUrl ? { url: serverUrl, stop: async () => {} } : await startTemporary({ settings })
  const admin = postgres(server.url, { max: 1 })
  const name = `tollgate_bench_${process.pid}_${opened++}`
  await admin.unsafe(`CREATE DATABASE ${name}`)
  const url = new URL(server.url)
  url.pathname = `/${name}`
  const sql = postgres(url.href, { max: 1 })
  const [facts] = await sql`SELECT pg_backend_pid() AS pid, current_setting('server_version') AS version`
  const postmaster = localPostmaster(Number(facts?.pid))
  return {
    url: url.href,
    serverUrl: server.url,
    version: String(facts?.version),
    cpuUs: () => (postmaster === undefined ? Number.NaN : postgresCpuUs(postmaster)),
    async rows(wanted) {
      const deadline = Date.now() + 15_000
      for (;;) {
        const [row] = await sql`SELECT count(*)::int AS rows FROM requests`
        const rows = Number(row?.rows)
        if (rows === (wanted ?? rows) || Date.now() > deadline) return rows
        await delay(100)
      }
    },
    async close() {
      await sql.end()
      await admin.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      await admin.end()
      await server.stop()
    },
  }
}

/** Databases of this process. */
let opened = 0

/** The postmaster is the parent of a backend, if that backend runs on this machine. */
function localPostmaster(backendPid: number): number | undefined {
  try {
    return parentPid(backendPid)
  } catch {
    return undefined
  }
}
