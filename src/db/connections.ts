import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { arrayTypes } from './array-types.ts'
import type { PostgresJsDatabase } from './drizzle.cjs'
import { drizzle } from './drizzle.cjs'
import * as schema from './schema.ts'

/** A few connections to Postgres. They are made when first used, and again after an outage. */
export interface Connections {
  /**
   * Raw statements, prepared on first use. `int8` and `numeric` arrive as decimal strings, because a number would
   * lose digits: wrap money in BigInt(), and pass it as a string with `::bigint`. `timestamptz` is a Date.
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
  /** As `pg_stat_activity` shows it. Default `tollgate`. */
  applicationName?: string
  /** The server ends a statement that runs for so long. Absent: it ends none. */
  statementMs?: number
}

/**
 * Open a pool of its own; no connection is made yet. Connecting takes two seconds at most, then the statement is
 * rejected. A statement that was running when Postgres went away is rejected and never repeated.
 */
export function openConnections(url: string, options: ConnectionOptions = {}): Connections {
  const sql = postgres(url, clientSettings(options))
  return {
    sql,
    db: drizzle({ client: clientForDrizzle(sql), schema }),
    // postgres.js may wait for ever for a connection that died at the wrong moment.
    async end(): Promise<void> {
      const ended = Promise.allSettled([sql.end({ timeout: endSeconds })])
      await Promise.race([ended, sleep((endSeconds + 1) * 1000, undefined, { ref: false })])
    },
  }
}

const endSeconds = 2

/**
 * The same client as drizzle sees it. drizzle changes the serializers of the client that it is given
 * (https://github.com/drizzle-team/drizzle-orm/issues/4426), so it gets a copy of them; it also asks for unprepared
 * statements, which Postgres would parse and plan anew each time.
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
export function clientSettings({ max = 5, applicationName = 'tollgate', statementMs }: ConnectionOptions) {
  return {
    max,
    connect_timeout: 2,
    // Seconds. It also ends connections that postgres.js opens after the end of a pool, for statements that waited then.
    idle_timeout: 60,
    // Seconds. The default backs off to 20, which would prolong an outage by as much.
    backoff: (retries: number) => Math.min(0.02 * 2 ** retries, 1),
    onnotice: () => {},
    fetch_types: false,
    types: { ...arrayTypes, json: jsonType },
    connection: {
      application_name: applicationName,
      // Planning anew over a partition a day takes several times longer than reading a page of the usage log.
      plan_cache_mode: 'force_generic_plan',
      ...(statementMs === undefined ? {} : { statement_timeout: statementMs }),
    },
  }
}

/** json and jsonb. A string is JSON text already: drizzle writes it itself. */
const jsonType = {
  to: 114,
  from: [114, 3802],
  serialize: (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)),
  parse: (text: string): unknown => JSON.parse(text),
}
