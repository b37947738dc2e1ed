import { Client, type ClientConfig } from 'pg'
import { sessionName } from './instances.ts'

interface ConnectionOptions {
  databaseUrl: string
  /** The id of this process, which Postgres shows as the name of the session. */
  instanceId: string
  /** A statement that takes longer fails. */
  queryTimeoutMs: number
  idleInTransactionMs: number
  /** The backend of the previous connection. */
  lost: PostgresBackend | undefined
  newPostgresClient: NewPostgresClient
}

/** Makes a client that is not connected yet. Whoever has it need not listen to its errors. */
export type NewPostgresClient = (config: ClientConfig) => Client

export const newPostgresClient: NewPostgresClient = (config) => {
  const client = new Client(config)
  // A lost connection also fails the running query, whose error is handled by its caller.
  client.on('error', () => {})
  return client
}

/**
 * A Postgres backend. It is identified by its start time as well, because Postgres can give its pid to
 * another backend.
 */
export interface PostgresBackend {
  pid: number
  startedAt: string
}

/** The connection of the shipper to Postgres. There is one at a time. */
export class ShipperConnection {
  readonly client: Client
  #backend: PostgresBackend | undefined

  constructor(options: ConnectionOptions) {
    const { databaseUrl, instanceId, queryTimeoutMs, idleInTransactionMs } = options
    this.#backend = options.lost
    this.client = options.newPostgresClient({
      connectionString: databaseUrl,
      connectionTimeoutMillis: 5_000,
      query_timeout: queryTimeoutMs,
      keepAlive: true,
      // A process that is frozen in the middle of a transaction must not keep its locks.
      idle_in_transaction_session_timeout: idleInTransactionMs,
      application_name: sessionName(instanceId),
    })
  }

  /** The backend that must have ended before the next connection is used: before `open`, the previous one. */
  get backend(): PostgresBackend | undefined {
    return this.#backend
  }

  async open(): Promise<void> {
    await this.client.connect()
    if (this.#backend !== undefined) await endBackend(this.client, this.#backend)
    const found = await this.client.query<PostgresBackend>(
      `SELECT pid, backend_start::text AS "startedAt" FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
    )
    this.#backend = found.rows[0]
  }

  /** Names the session after another id of this process. */
  async rename(instanceId: string): Promise<void> {
    await this.client.query(`SELECT set_config('application_name', $1, false)`, [sessionName(instanceId)])
  }

  close(): void {
    void this.client.end().catch(() => {})
  }
}

/**
 * Ends the backend of a lost connection before the shipper reads the journal's position. Otherwise a Postgres
 * that was paused, or did not notice the lost connection, could commit a batch after that read.
 */
async function endBackend(client: Client, { pid, startedAt }: PostgresBackend): Promise<void> {
  const found = await client.query<{ gone: boolean }>(
    `SELECT pg_terminate_backend(pid, $3) AS gone FROM pg_stat_activity
     WHERE pid = $1 AND backend_start = $2::timestamptz`,
    [pid, startedAt, terminateMs],
  )
  if (found.rows.some(({ gone }) => !gone)) throw new Error('a lost connection to Postgres has not ended yet')
}

/** Shorter than any query timeout. */
const terminateMs = 500
