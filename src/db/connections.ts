import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { pauseAfter } from '../runtime/backoff.ts'
import { arrayTypes } from './array-types.ts'
import type { PostgresJsDatabase } from './drizzle.cjs'
import { drizzle } from './drizzle.cjs'
import * as schema from './schema.ts'

/** A few connections to Postgres. They open at their first use, and again after an outage. */
export interface Connections {
  /**
   * Raw statements, prepared on first use. `int8` and `numeric` arrive as decimal strings, because a number
   * would lose digits: wrap money in BigInt(), and pass it as a string with `::bigint`. `timestamptz` is a
   * Date.
   */
  sql: postgres.Sql
  /** Typed queries, prepared on first use as well. */
  db: TypedQueries
  /** Waits two seconds for running statements, then ends them. */
  end(): Promise<void>
}

export type TypedQueries = PostgresJsDatabase<typeof schema>

export interface ConnectionOptions {
  /** Default 5. */
  max?: number
  /** Connect timeout in seconds. Default 2. */
  connectSeconds?: number
  /** The name in `pg_stat_activity`. Default `tollgate`. */
  applicationName?: string
  /** The server ends a statement after this time. Absent: it ends none. */
  statementMs?: number
  /**
   * Postgres plans each statement for its values. Default: it keeps one plan of each statement for all
   * values.
   */
  plansEach?: boolean
  /**
   * The address is a pooler in transaction mode, where two statements may meet two sessions: nothing is
   * prepared, and the session gets no settings. So it excludes `statementMs` and `plansEach`.
   */
  pooled?: boolean
}

/**
 * Open a separate pool. It makes no connection yet. Connecting takes `connectSeconds` at most, then it
 * rejects the statement. If Postgres goes away while a statement runs, it rejects the statement and never
 * repeats it.
 */
export function openConnections(url: string, options: ConnectionOptions = {}): Connections {
  const sql = postgres(url, clientSettings(options))
  return {
    sql,
    db: drizzle({ client: clientForDrizzle(sql), schema }),
    // Without a limit, postgres.js may wait indefinitely for a connection that died at the wrong moment.
    async end(): Promise<void> {
      const ended = Promise.allSettled([sql.end({ timeout: endSeconds })])
      await Promise.race([ended, sleep((endSeconds + 1) * 1000, undefined, { ref: false })])
    },
  }
}

const endSeconds = 2

/**
 * A view of the client for drizzle. drizzle changes the serializers of its client
 * (https://github.com/drizzle-team/drizzle-orm/issues/4426), so it gets a copy of them. It also asks for
 * unprepared statements, which Postgres would parse and plan each time, so we prepare them.
 */
function clientForDrizzle(client: postgres.Sql): postgres.Sql {
  const options = { ...client.options, parsers: {}, serializers: {} }
  const unsafe: postgres.Sql['unsafe'] = (text, parameters, settings) =>
    client.unsafe(text, parameters, { ...settings, prepare: true })
  return new Proxy(client, {
    get: (target, name, receiver) =>
      name === 'options' ? options : name === 'unsafe' ? unsafe : Reflect.get(target, name, receiver),
  })
}

/** Settings of every postgres.js client of ours. */
export function clientSettings({
  max = 5,
  connectSeconds = 2,
  applicationName = 'tollgate',
  statementMs,
  plansEach = false,
  pooled = false,
}: ConnectionOptions) {
  const session = {
    // The usage log has a partition a day: a new plan takes several times longer than reading a page.
    // It compiles where it expects much to read. A page ends long before.
    ...(plansEach ? { jit: 'off' } : {}),
    // A query of one takes one processor, so that the others serve requests.
    ...(statementMs === undefined ? {} : { max_parallel_workers_per_gather: 0 }),
    plan_cache_mode: plansEach ? 'force_custom_plan' : 'force_generic_plan',
    ...(statementMs === undefined ? {} : { statement_timeout: statementMs }),
  }
  return {
    max,
    connect_timeout: connectSeconds,
    // Seconds. After the end of a pool, postgres.js may open connections for waiting statements: this ends
    // them too. To plan over all partitions, a new connection must first read what they are.
    idle_timeout: plansEach ? 600 : 60,
    // Seconds. The default backs off to 20 seconds, by which it would prolong an outage.
    backoff: (retries: number) => pauseAfter(retries + 1, { least: 0.02, most: 1 }),
    onnotice: () => {},
    // A kept statement holds memory of the connection, so we keep none whose plan is not kept.
    prepare: !plansEach && !pooled,
    fetch_types: false,
    types: { ...arrayTypes, json: jsonType },
    // PgBouncer ends a connection that asks for a setting it does not know.
    connection: { application_name: applicationName, ...(pooled ? {} : session) },
  }
}

/** json and jsonb. drizzle passes JSON text as a string. */
const jsonType = {
  to: 114,
  from: [114, 3802],
  serialize: (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)),
  parse: (text: string): unknown => JSON.parse(text),
}
