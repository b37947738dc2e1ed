import type { TypedQueries } from '../db/connections.ts'
import { asc, eq } from '../db/drizzle.cjs'
import { groups } from '../db/schema.ts'

/** Returns the ids of the public groups, sorted by name. */
export async function publicGroups(db: TypedQueries): Promise<string[]> {
  const rows = await db
    .select({ id: groups.id })
    .from(groups)
    .where(eq(groups.public, true))
    .orderBy(asc(groups.name))
  return rows.map(({ id }) => id)
}
