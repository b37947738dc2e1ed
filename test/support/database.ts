import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { type Connections, openConnections } from '../../src/db/connections.ts'
import * as product from '../../src/db/database.ts'
import { administer } from './administer.ts'

/** The database as a process of Tollgate has it, and beside it connections of the test. */
export interface Database extends product.Database, Pick<Connections, 'sql' | 'db'> {}

/** `max`: connections of each pool. All other bounds have their defaults. */
export function openDatabase(
  url: string,
  { max, ...bounds }: Partial<product.DatabaseBounds> & { max?: number } = {},
): Database {
  // A busy machine may need seconds for a connection.
  const own = openConnections(url, { connectSeconds: 30, ...(max === undefined ? {} : { max }) })
  const pools =
    max === undefined ? {} : Object.fromEntries(purposes.map((name) => [`${name}Connections`, max]))
  const database = product.openDatabase(url, { ...readConfig({}).bounds, ...pools, ...bounds })
  return {
    ...database,
    sql: own.sql,
    db: own.db,
    async close() {
      await Promise.all([database.close(), own.end()])
    },
  }
}

const purposes = ['money', 'keys', 'state', 'answers', 'reads', 'log', 'jobs'] as const

/** A migrated database for one test or one file. Drop it at the end: that works while somebody is still connected. */
export function freshDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  return makeDatabase(`template ${inject('postgres').template}`)
}

/** A database without tables, as a new installation finds it. */
export function emptyDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  return makeDatabase('')
}

async function makeDatabase(origin: string): Promise<{ url: string; drop(): Promise<void> }> {
  const server = inject('postgres').url
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await administer(server, `create database ${name} ${origin}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(server, `drop database if exists ${name} with (force)`) }
}
