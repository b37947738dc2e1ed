import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { gatewayError } from '../canonical/error.ts'
import { LateError } from '../runtime/in-time.ts'
import type { ExtractTablesWithRelations, PgDatabase, PgQueryResultHKT, PgTransaction } from './drizzle.cjs'
import type { NodePgQueryResultHKT } from './drizzle-pg.cjs'
import { isConflict, isPassing, reasonOf } from './failures.ts'
import * as schema from './schema.ts'

/** Typed queries of any client: postgres.js or `pg`, inside a transaction or not. */
export type Queries = PgDatabase<PgQueryResultHKT, typeof schema>

export type TypedTransaction = PgTransaction<
  NodePgQueryResultHKT,
  typeof schema,
  ExtractTablesWithRelations<typeof schema>
>

export interface TransactionTerms {
  /** The maximum time that the caller waits for a free connection and the commit together. Default 5,000. */
  withinMs?: number
  /** The error message for the client if there is no answer. It must tell the client to try again. */
  unavailable?: string
}

/** Transactions for changes by admins, in a serving process. */
export interface Transactions {
  /**
   * Runs `work` in one transaction (READ COMMITTED) and commits it. `work` must change nothing but rows,
   * because it runs again, up to three times, if two transactions block each other or a connection turns out
   * to be dead. After a rollback, rejects with what `work` has thrown. Rejects with GatewayError
   * `unavailable` if Postgres does not answer in time; it is then unknown whether the transaction was
   * committed.
   */
  transact<T>(work: (tx: TypedTransaction) => Promise<T>, terms?: TransactionTerms): Promise<T>
  /** For libraries that need a pool. */
  pool(): Promise<Pool>
  close(): Promise<void>
}

const triesMax = 3
const withinMsDefault = 5_000
const connectMs = 2_000

/**
 * Opens the pool without connecting yet. It is a `pg` pool: when a pinned connection dies, its client gets an
 * error that can be caught, which postgres.js does not guarantee (docs/decisions/0037-admin-transactions.md).
 */
export function openTransactions(
  url: string,
  { adminConnections }: { adminConnections: number },
): Transactions {
  let opening: Promise<Opened> | undefined
  const opened = () => {
    opening ??= open(url, adminConnections)
    return opening
  }
  return {
    async transact(work, { withinMs = withinMsDefault, unavailable = awayMessage } = {}) {
      const { pool, over } = await opened()
      const late = AbortSignal.timeout(withinMs)
      for (let tries = 1; ; tries++) {
        // An idle connection may have died before the pool has noticed. In that case nothing has been done
        // yet.
        let mayRepeat = false
        const begin = (client: PoolClient) => {
          mayRepeat = true
          return over(client).transaction((tx) => {
            mayRepeat = false
            return work(tx)
          })
        }
        try {
          return await runIn(pool, begin, late, withinMs)
        } catch (error) {
          const cause = reasonOf(error)
          if ((isConflict(cause) || mayRepeat) && tries < triesMax && !late.aborted) continue
          if (!isPassing(cause)) throw cause
          throw gatewayError('database_away', { message: unavailable }, { cause, retryAfterSeconds: 2 })
        }
      }
    },
    async pool() {
      return (await opened()).pool
    },
    async close() {
      // The pool waits for running transactions, but their server may be gone.
      const ended = opening?.then(({ pool }) => pool.end()).catch(() => {})
      await Promise.race([ended, sleep(endMs, undefined, { ref: false })])
    },
  }
}

const endMs = 2_000
const awayMessage =
  'The database is not responding at the moment. Check whether the change was made before you repeat it.'

interface Opened {
  pool: Pool
  over(client: PoolClient): { transaction<T>(work: (tx: TypedTransaction) => Promise<T>): Promise<T> }
}

async function open(url: string, max: number): Promise<Opened> {
  const [{ Pool: PgPool }, { drizzle }] = await Promise.all([import('pg'), import('./drizzle-pg.cjs')])
  const pool = new PgPool({
    connectionString: url,
    application_name: 'tollgate admin',
    max,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: 60_000,
    idle_in_transaction_session_timeout: 30_000,
    statement_timeout: 30_000,
  })
  // An idle connection has ended; the pool removes it.
  pool.on('error', () => {})
  return { pool, over: (client) => drizzle({ client, schema }) }
}

/**
 * Runs `work` on one connection. If the connection does not answer in time, it is closed, and the server
 * rolls back the transaction.
 */
async function runIn<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  late: AbortSignal,
  withinMs: number,
): Promise<T> {
  const tooLate = Promise.withResolvers<never>()
  const refuse = () => tooLate.reject(new LateError(`the database did not answer within ${withinMs} ms`))
  late.addEventListener('abort', refuse, { once: true })
  tooLate.promise.catch(() => {})
  if (late.aborted) refuse()
  const connecting = pool.connect()
  let client: PoolClient
  try {
    client = await Promise.race([connecting, tooLate.promise])
  } catch (error) {
    connecting.then(
      (unused) => unused.release(),
      () => {},
    )
    late.removeEventListener('abort', refuse)
    throw error
  }
  client.on('error', ignore)
  let broken: Error | undefined
  try {
    return await Promise.race([work(client), tooLate.promise])
  } catch (error) {
    if (error instanceof LateError || isPassing(reasonOf(error))) broken = new Error('not reused')
    throw error
  } finally {
    late.removeEventListener('abort', refuse)
    client.off('error', ignore)
    if (broken !== undefined) client.on('error', ignore)
    client.release(broken)
  }
}

/** The running statement rejects with the same error. */
const ignore = () => {}
