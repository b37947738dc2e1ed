import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { pauseAfter } from '../runtime/backoff.ts'
import { arrayTypes } from './array-types.ts'
import type { PostgresJsDatabase } from './drizzle.cjs'
import { drizzle } from './drizzle.cjs'
import * as schema from './schema.ts'

/** A few connections to Postgres. They open on first use, and reopen after an outage. */
export interface Connections {
  /**
   * Raw statements, prepared on first use. `int8` and `numeric` arrive as decimal strings, because a number
   * would lose digits: wrap money in BigInt(), and pass it as a string with `::bigint`. `timestamptz` is a
   * Date.
   */
  sql: postgres.Sql
  /** Typed queries, also prepared on first use. */
  db: TypedQueries
  /** Waits two seconds for running statements, then cancels them. */
  end(): Promise<void>
}

export type TypedQueries = PostgresJsDatabase<typeof schema>

export interface ConnectionOptions {
  /** The maximum number of connections. Default 5. */
  max?: number
  /** Connect timeout in seconds. Default 2. */
  connectSeconds?: number
  /** The name in `pg_stat_activity`. Default `tollgate`. */
  applicationName?: string
  /** The server cancels a statement after this time. If absent, there is no limit. */
  statementMs?: number
  /**
   * Postgres plans each statement for its values. By default it keeps one generic plan for each statement.
   */
  plansEach?: boolean
  /**
   * The address is a pooler in transaction mode, where two statements can run in different sessions, so
   * nothing is prepared and no session settings are sent. Cannot be combined with `statementMs` or
   * `plansEach`.
   */
  pooled?: boolean
}

/**
 * Opens a separate pool without connecting yet. If a connection cannot be made within `connectSeconds`, the
 * statement is rejected. If Postgres goes away while a statement runs, the statement is rejected and never
 * repeated.
 */
export function openConnections(url: string, options: ConnectionOptions = {}): Connections {
  const sql = postgres(url, clientSettings(options))
  return {
    sql,
    db: drizzle({ client: clientForDrizzle(sql), schema }),
    // Without a limit, postgres.js can wait indefinitely for a connection that died at the wrong moment.
    async end(): Promise<void> {
      const ended = Promise.allSettled([sql.end({ timeout: endSeconds })])
      await Promise.race([ended, sleep((endSeconds + 1) * 1000, undefined, { ref: false })])
    },
  }
}

const endSeconds = 2

/**
 * A view of the client for drizzle. It has its own copy of the serializers, because drizzle changes those of
 * its client (https://github.com/drizzle-team/drizzle-orm/issues/4426). It also prepares statements, because
 * drizzle requests unprepared ones, which Postgres would parse and plan each time.
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

/** The settings of all our postgres.js clients. */
export function clientSettings({
  max = 5,
  connectSeconds = 2,
  applicationName = 'tollgate',
  statementMs,
  plansEach = false,
  pooled = false,
}: ConnectionOptions) {
  const session = {
    // The usage log has one partition per day, so planning anew takes several times longer than reading a
    // page. Postgres compiles a query (JIT) if it expects to read many rows, although a page ends long
    // before.
    ...(plansEach ? { jit: 'off' } : {}),
    // A time-limited query uses a single processor, so that the other processors are free to serve requests.
    ...(statementMs === undefined ? {} : { max_parallel_workers_per_gather: 0 }),
    plan_cache_mode: plansEach ? 'force_custom_plan' : 'force_generic_plan',
    ...(statementMs === undefined ? {} : { statement_timeout: statementMs }),
  }
  return {
    max,
    connect_timeout: connectSeconds,
    // In seconds. After the end of a pool, postgres.js can still open connections for waiting statements,
    // which this timeout ends as well. It is longer with `plansEach`, because a new connection must first
    // read the definitions of all partitions to plan a query.
    idle_timeout: plansEach ? 600 : 60,
    // In seconds. The default backs off to as much as 20 seconds, which would prolong an outage.
    backoff: (retries: number) => pauseAfter(retries + 1, { least: 0.02, most: 1 }),
    onnotice: () => {},
    // A prepared statement uses memory of its connection, so statements whose plans are not kept are not
    // prepared.
    prepare: !plansEach && !pooled,
    fetch_types: false,
    types: { ...arrayTypes, json: jsonType },
    // PgBouncer closes a connection that requests a setting it does not know.
    connection: { application_name: applicationName, ...(pooled ? {} : session) },
  }
}

/** The json and jsonb types. drizzle passes JSON text as a string. */
const jsonType = {
  to: 114,
  from: [114, 3802],
  serialize: (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)),
  parse: (text: string): unknown => JSON.parse(text),
}
