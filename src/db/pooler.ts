import postgres from 'postgres'
import { inTime, LateError } from '../runtime/in-time.ts'
import { clientSettings } from './connections.ts'

/** Why a Postgres address cannot be used. `final` means that waiting cannot help. */
export interface AddressProblem {
  message: string
  final: boolean
}

const advice =
  'LISTEN, advisory locks and settings need a session: set DATABASE_URL to Postgres itself, and DATABASE_POOLER_URL to the pooler'

/** PgBouncer's error for a client that requests a setting it does not know. */
export const unknownSetting = /unsupported startup parameter/

export const refusesSettings = `it is a PgBouncer, which rejects session settings. ${advice}`

/**
 * Returns why DATABASE_URL cannot be used if it is the address of a pooler that does not give each session to
 * a single client. Undefined if it can be used. `session` has one connection, with our settings. Throws the
 * error of a connection that fails.
 */
export async function findPoolerProblem(
  url: string,
  session: postgres.Sql,
): Promise<AddressProblem | undefined> {
  const rows = await session<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
  // A server reports its process id when a client connects. A pooler reports a number of its own.
  if (rows[0]?.pid === pidOf(rows)) return undefined
  const other = postgres(url, clientSettings({ max: 1, pooled: true }))
  try {
    for (let turn = 0; turn < turns; turn++) {
      if (await inTime(changesServer(session, other), withinMs, 'the pooler'))
        return { message: `it is a pooler in transaction mode. ${advice}`, final: true }
    }
    return undefined
  } catch (error) {
    if (!(error instanceof LateError)) throw error
    return { message: 'it is a pooler that does not provide a second connection', final: false }
  } finally {
    await other.end({ timeout: 0 })
  }
}

/**
 * A pooler hands out the server connection that was returned last, but its other clients may get it first.
 */
const turns = 5
const withinMs = 2_000

/** True if the session is moved to another server connection while another client has a transaction. */
async function changesServer(session: postgres.Sql, other: postgres.Sql): Promise<boolean> {
  const [before] = await session<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
  return await other.begin(async (tx) => {
    await tx`SELECT 1`
    const [now] = await session<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    return now?.pid !== before?.pid
  })
}

/**
 * The process id that the server reported when the connection began. postgres.js keeps it with the result.
 */
function pidOf(rows: object): unknown {
  const state: unknown = Reflect.get(rows, 'state')
  return typeof state === 'object' && state !== null ? Reflect.get(state, 'pid') : undefined
}

/** Throws PoolerError unless `poolerUrl` is an address of the same database as `session`. */
export async function checkPooler(poolerUrl: string, session: postgres.Sql): Promise<void> {
  const pooler = postgres(
    poolerUrl,
    clientSettings({ max: 1, applicationName: 'tollgate prepare', pooled: true }),
  )
  const askFor = (sql: postgres.Sql) => sql<{ database: string; started: string }[]>`
    SELECT current_database() AS database, pg_postmaster_start_time()::text AS started`
  const { host } = new URL(poolerUrl)
  try {
    const [through] = await inTime(askFor(pooler), withinMs, 'the pooler').catch((cause: unknown) => {
      const message = cause instanceof Error ? cause.message : String(cause)
      throw new PoolerError(`DATABASE_POOLER_URL (${host}): ${message}`, { cause })
    })
    const [direct] = await askFor(session)
    if (through?.database !== direct?.database || through?.started !== direct?.started)
      throw new PoolerError(`DATABASE_POOLER_URL (${host}) leads to a different database than DATABASE_URL`)
  } finally {
    await pooler.end({ timeout: 0 })
  }
}

/** The pooler cannot reach the database, or leads to a different one. Both can change while a start waits. */
export class PoolerError extends Error {}
