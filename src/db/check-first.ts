import { type Connections, openConnections } from './connections.ts'
import { ownMigrations } from './migrate.ts'
import { FormerSchemaError, isFormer, readSchemaVersion } from './schema-version.ts'

/**
 * Runs a startup check before anything in the database changes. Rejects with FormerSchemaError before the
 * check if the schema is from before the first release.
 */
export async function checkFirst<T>(
  url: string,
  check: (connections: Connections) => Promise<T>,
): Promise<T> {
  const connections = openConnections(url, { max: 1, applicationName: 'tollgate prepare' })
  try {
    if (isFormer(ownMigrations, await readSchemaVersion(connections.sql)))
      throw new FormerSchemaError('the database')
    return await check(connections)
  } finally {
    await connections.end()
  }
}
