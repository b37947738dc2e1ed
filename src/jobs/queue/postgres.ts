import { EventEmitter, setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  assertSchemaCompatibility,
  type IQueueBackend,
  type PgPool,
  PostgresConnection,
  PostgresQueueBackend,
  runMigrations,
} from 'bullmq'
import { Client, DatabaseError } from 'pg'
import type { Log } from '../../telemetry/log.ts'
import type { QueueBackend } from './backend.ts'
import { lineOf } from './backend.ts'

/** Creates or updates BullMQ's tables in the schema `bullmq`. Several processes can call this at once. */
export async function prepareQueueSchema(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl, application_name: 'tollgate-prepare' })
  client.on('error', () => {})
  await client.connect()
  try {
    await runMigrations(client)
  } finally {
    await client.end()
  }
}

/**
 * Uses at most ten connections; each worker holds one of them for LISTEN. Rejects if the schema is not
 * prepared or Postgres does not answer within `waitMs`.
 */
export async function openPostgres(
  databaseUrl: string,
  commandMs: number,
  waitMs: number,
  log: Log,
): Promise<QueueBackend> {
  const pool = openPool(databaseUrl, commandMs, log)
  try {
    await requireSchema(pool, waitMs)
  } catch (cause) {
    await pool.end()
    throw new Error(`the queue cannot use its Postgres: ${lineOf(cause)}`, { cause })
  }
  return {
    name: 'postgres',
    connect(name, options, role): IQueueBackend {
      const connection = new ReadyConnection(pool)
      // BullMQ finds its workers in pg_stat_activity by this name.
      const listens = role?.withBlockingConnection ? name : undefined
      return new WatchfulBackend(connection, name, { ...options, connection: pool }, true, listens)
    },
    async close() {
      // Not awaited: this waits for connections that are in use, and their server may be gone.
      void pool.end().catch(() => {})
    },
  }
}

/** Retries until the deadline, because a single timeout proves little: the server may only be busy. */
async function requireSchema(pool: PgPool, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs
  for (;;) {
    try {
      await assertSchemaCompatibility(pool)
      return
    } catch (error) {
      const isAway = error instanceof Error && 'code' in error && error.code === awayCode
      if (!isAway || performance.now() + retryMs > deadline) throw error
    }
    await sleep(retryMs)
  }
}

const retryMs = 250
/** BullMQ treats this code as a lost connection. */
const awayCode = 'ECONNREFUSED'

/**
 * A pool whose connection errors look to BullMQ like those of Redis. After such an error BullMQ waits and
 * retries, even when reporting the end of a job; after any other it would retry without a pause and drop the
 * job.
 */
function openPool(databaseUrl: string, commandMs: number, log: Log): PgPool {
  const { pool } = new ReadyConnection({
    connectionString: inSchema(databaseUrl),
    application_name: 'tollgate-queue',
    max: 10,
    connectionTimeoutMillis: commandMs,
    query_timeout: commandMs,
    keepAlive: true,
  })
  // Every BullMQ queue and worker adds a listener to the pool.
  if (pool instanceof EventEmitter) setMaxListeners(0, pool)
  pool.on('error', (error) => log.warn({ error: lineOf(error) }, 'the queue lost a connection to Postgres'))
  // A connection in use emits its own `error` event, which would end the process if it had no listener.
  pool.on('connect', (client) => client.on('error', () => {}))
  const query = pool.query.bind(pool)
  return Object.assign(pool, {
    async query<Row>(text: string, values?: readonly unknown[]) {
      try {
        return await query<Row>(text, values)
      } catch (error) {
        if (error instanceof DatabaseError && !/^(08|53|57P)/.test(error.code ?? '')) throw error
        log.warn({ error: lineOf(error) }, 'the queue cannot reach Postgres')
        throw Object.assign(new Error(lineOf(error), { cause: error }), { code: awayCode })
      }
    },
  })
}

function inSchema(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  const options = url.searchParams.get('options')
  url.searchParams.set('options', `${options === null ? '' : `${options} `}-c search_path=bullmq`)
  return url.href
}

/**
 * BullMQ's own class checks the schema first. If Postgres is down at that moment, all later calls are
 * rejected.
 */
class ReadyConnection extends PostgresConnection {
  override async waitUntilReady(): Promise<void> {}
}

/**
 * BullMQ's own class waits up to an hour for the notification of a new job. A notification can be lost with
 * its connection, so this class polls for jobs every few seconds.
 */
class WatchfulBackend extends PostgresQueueBackend {
  override get maximumBlockTimeout(): number {
    return 5
  }
}
