import type { Client } from 'pg'

/** A backend of Postgres. Postgres may give its pid to another backend, so it is identified by its start too. */
export interface PostgresBackend {
  pid: number
  startedAt: string
}

export async function backendOf(client: Client): Promise<PostgresBackend | undefined> {
  const found = await client.query<PostgresBackend>(
    `SELECT pid, backend_start::text AS "startedAt" FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
  )
  return found.rows[0]
}

/**
 * End the backend of a lost connection before the shipper reads the journal's position. A Postgres that was paused, or
 * that did not notice the lost connection, could otherwise commit a batch after that read.
 */
export async function endBackend(client: Client, { pid, startedAt }: PostgresBackend): Promise<void> {
  const found = await client.query<{ gone: boolean }>(
    `SELECT pg_terminate_backend(pid, $3) AS gone FROM pg_stat_activity
     WHERE pid = $1 AND backend_start = $2::timestamptz`,
    [pid, startedAt, terminateMs],
  )
  if (found.rows.some(({ gone }) => !gone)) throw new Error('a lost connection to Postgres has not ended yet')
}

/** Shorter than every query timeout. */
const terminateMs = 500
