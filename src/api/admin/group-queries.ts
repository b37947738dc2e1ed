import { and, eq, isNull } from '../../db/drizzle.cjs'
import { channels, groups, models } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'
import { hasText, idFirst, isCalled, keyset } from './keyset-queries.ts'
import type { PagePosition, SortOrder } from './list.ts'

export type GroupRow = typeof groups.$inferSelect

export interface GroupFilter {
  name?: string | undefined
  search?: string | undefined
  managed_by?: 'file' | 'admin' | undefined
  public?: boolean | undefined
  order: SortOrder
  after: PagePosition | undefined
  limit: number
}

export function listGroups(db: Queries, filter: GroupFilter): Promise<GroupRow[]> {
  const { name, search, managed_by, public: isPublic, order, after, limit } = filter
  const { orderBy, behind } = keyset(order, { columns: { name: groups.name }, id: groups.id }, after)
  return db
    .select()
    .from(groups)
    .where(
      and(
        name === undefined ? undefined : eq(groups.name, name),
        hasText(groups.name, search),
        managed_by === undefined ? undefined : eq(groups.managedBy, managed_by),
        isPublic === undefined ? undefined : eq(groups.public, isPublic),
        behind,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit)
}

/** Returns a group by its id or name. */
export async function findGroup(db: Queries, called: string): Promise<GroupRow | undefined> {
  const [row] = await db
    .select()
    .from(groups)
    .where(isCalled(groups, called))
    .orderBy(idFirst(groups.id, called))
    .limit(1)
  return row
}

/** Like `findGroup`, but locks the row until the end of the transaction. */
export async function lockGroup(tx: Queries, called: string): Promise<GroupRow | undefined> {
  const found = await findGroup(tx, called)
  if (found === undefined) return undefined
  const [row] = await tx.select().from(groups).where(eq(groups.id, found.id)).for('update')
  return row
}

export async function addGroup(tx: Queries, row: typeof groups.$inferInsert): Promise<GroupRow> {
  const [added] = await tx.insert(groups).values(row).returning()
  if (added === undefined) throw new Error('a group was not inserted')
  return added
}

export async function changeGroup(
  tx: Queries,
  id: string,
  columns: Partial<typeof groups.$inferInsert>,
): Promise<GroupRow> {
  const [changed] = await tx.update(groups).set(columns).where(eq(groups.id, id)).returning()
  if (changed === undefined) throw new Error('a locked group is gone')
  return changed
}

/** Reads the names that the lists of a group or a key can contain. */
export async function readNames(tx: Queries) {
  const live = await tx
    .select({ id: models.id, aliases: models.aliases })
    .from(models)
    .where(isNull(models.disabledAt))
  const names = await tx.select({ name: channels.name }).from(channels).where(isNull(channels.disabledAt))
  return {
    models: new Set(live.map(({ id }) => id)),
    modelOf: new Map(live.flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id] as const))),
    channels: new Set(names.map(({ name }) => name)),
  }
}
