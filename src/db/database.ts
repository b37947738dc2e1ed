import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import * as schema from './schema.ts'

/** The application's way to Postgres: two small pools that connect when first used and again after an outage. */
export interface Database {
  /**
   * Raw statements, prepared on first use. `int8` and `numeric` arrive as decimal strings, because a number would
   * lose digits: wrap money in BigInt(), and pass it as a string with `::bigint`. `timestamptz` is a Date.
   */
  sql: postgres.Sql
  /** Typed queries, on connections of their own: drizzle changes the serializers of the client it is given. */
  db: PostgresJsDatabase<typeof schema>
  /**
   * Call `onNotify` with the payload of every notification. `onListening` runs whenever the subscription begins, again
   * after every outage: notifications of the time between are lost, so read the state anew there.
   * Rejects when Postgres is away at the first call. Returns the function that ends the subscription.
   */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onListening?: () => void,
  ): Promise<() => Promise<void>>
  /** Waits two seconds for running statements, then ends them. */
  close(): Promise<void>
}

/**
 * Open both pools; no connection is made yet.
 *
 * `max` connections each (default 5), one more while something listens. Connecting takes two seconds at most, then the
 * statement is rejected; a statement that was running when Postgres went away is rejected and never repeated.
 */
export function openDatabase(
  url: string,
  options: { max?: number; applicationName?: string } = {},
): Database {
  const settings = clientSettings(options)
  const sql = postgres(url, settings)
  const client = postgres(url, settings)
  return {
    sql,
    db: drizzle({ client, schema }),
    async listen(channel, onNotify, onListening) {
      const { unlisten } = await sql.listen(channel, onNotify, onListening)
      return unlisten
    },
    async close() {
      await Promise.all([sql.end({ timeout: 2 }), client.end({ timeout: 2 })])
    },
  }
}

/** What every postgres.js client of ours is opened with. */
export function clientSettings({ max = 5, applicationName = 'tollgate' }) {
  return {
    max,
    connect_timeout: 2,
    // Seconds. The default backs off to 20, which would prolong an outage by as much.
    backoff: (retries: number) => Math.min(0.02 * 2 ** retries, 1),
    onnotice: () => {},
    connection: { application_name: applicationName },
  }
}
