import type { TypedQueries } from '../db/connections.ts'
import { asc, eq } from '../db/drizzle.cjs'
import { keyGroups } from '../db/schema.ts'

/** Ids of the groups that are public, in the order of their names. */
export async function publicGroups(db: TypedQueries): Promise<string[]> {
  const rows = await db
    .select({ id: keyGroups.id })
    .from(keyGroups)
    .where(eq(keyGroups.public, true))
    .orderBy(asc(keyGroups.name))
  return rows.map(({ id }) => id)
}
