import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { arrayTypes } from './array-types.ts'
import type { PostgresJsDatabase } from './drizzle.cjs'
import { drizzle } from './drizzle.cjs'
import * as schema from './schema.ts'

/**
 * The application's way to Postgres: two small pools that connect when first used and again after an outage.
 *
 * A serving process never pins a connection (`begin`, `transaction`, `reserve`): when a pinned one dies, postgres.js
 * 3.4.9 throws where nobody can catch it, and the process ends (https://github.com/porsager/postgres/issues/1208). What
 * must be one transaction is one statement or one SQL function. Take `sql` and `db` anew each time: see `renew`.
 */
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
  /**
   * Go on with new connections, and end the old ones within two seconds: for whoever finds that the database does not
   * answer as it should. At most once a second. Subscriptions end and must be made again.
   */
  renew(): void
  /** How often that was done: a subscription of before is no more. */
  readonly renewals: number
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
  let clients = openClients(url, options)
  let renewals = 0
  return {
    get sql() {
      return clients.sql
    },
    get db() {
      return clients.db
    },
    async listen(channel, onNotify, onListening) {
      const { unlisten } = await clients.sql.listen(channel, onNotify, onListening)
      return unlisten
    },
    renew() {
      if (performance.now() - clients.openedAt < renewMs) return
      const old = clients
      clients = openClients(url, options)
      renewals++
      void old.end()
    },
    get renewals() {
      return renewals
    },
    close: () => clients.end(),
  }
}

const renewMs = 1_000
const endSeconds = 2

function openClients(url: string, options: { max?: number; applicationName?: string }) {
  const settings = clientSettings(options)
  const sql = postgres(url, settings)
  const client = postgres(url, settings)
  return {
    openedAt: performance.now(),
    sql,
    db: drizzle({ client, schema }),
    /** postgres.js may wait for ever for a connection that died at the wrong moment; nobody else does. */
    async end(): Promise<void> {
      const ended = Promise.allSettled([
        sql.end({ timeout: endSeconds }),
        client.end({ timeout: endSeconds }),
      ])
      await Promise.race([ended, sleep((endSeconds + 1) * 1000, undefined, { ref: false })])
    },
  }
}

/** What every postgres.js client of ours is opened with. */
export function clientSettings({ max = 5, applicationName = 'tollgate' }) {
  return {
    max,
    connect_timeout: 2,
    // Seconds. Ends, too, what postgres.js opens after the end of a pool, for statements that were waiting then.
    idle_timeout: 60,
    // Seconds. The default backs off to 20, which would prolong an outage by as much.
    backoff: (retries: number) => Math.min(0.02 * 2 ** retries, 1),
    onnotice: () => {},
    fetch_types: false,
    types: arrayTypes,
    connection: {
      application_name: applicationName,
      // Planning anew over a partition a day takes several times longer than reading a page of the usage log.
      plan_cache_mode: 'force_generic_plan',
    },
  }
}
