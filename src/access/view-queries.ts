import { randomUUIDv7 } from 'node:crypto'
import type { Json } from '../canonical/json.ts'
import { and, asc, count, eq, gt, isNull, or } from '../db/drizzle.cjs'
import { savedViews } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'
import type { Actor } from './actor.ts'

export type SavedView = typeof savedViews.$inferSelect

export interface ViewFields {
  name: string
  page: string
  query: Json
  shared: boolean
}

const operator = '00000000-0000-0000-0000-000000000000'

/** The user that an actor's views belong to. */
export function viewerOf({ userId }: Pick<Actor, 'userId'>): string {
  return userId ?? operator
}

type Viewer = Pick<Actor, 'userId' | 'tenantId'>

/** Its own views, and those that others of its tenant share; for an operator: that other operators share. */
function visibleTo(viewer: Viewer) {
  return and(inTenantOf(viewer), or(eq(savedViews.userId, viewerOf(viewer)), eq(savedViews.shared, true)))
}

/**
 * Those that were made for the viewer's tenant, or for no tenant. One user may have tokens for several
 * tenants, all tokens that ADMIN_TOKEN has made count as one user, and a user may change its tenant: its
 * other views stay where they were made.
 */
function inTenantOf({ tenantId }: Viewer) {
  return tenantId === null ? isNull(savedViews.tenantId) : eq(savedViews.tenantId, tenantId)
}

/** In the order of their ids, which is that of their making. */
export function listViews(
  db: Queries,
  viewer: Viewer,
  { page, after, limit }: { page: string | undefined; after: string | undefined; limit: number },
): Promise<SavedView[]> {
  return db
    .select()
    .from(savedViews)
    .where(
      and(
        visibleTo(viewer),
        page === undefined ? undefined : eq(savedViews.page, page),
        after === undefined ? undefined : gt(savedViews.id, after),
      ),
    )
    .orderBy(asc(savedViews.id))
    .limit(limit)
}

/** `lock`: for a change of it. */
export async function findView(
  db: Queries,
  viewer: Viewer,
  id: string,
  lock = false,
): Promise<SavedView | undefined> {
  const query = db
    .select()
    .from(savedViews)
    .where(and(visibleTo(viewer), eq(savedViews.id, id)))
  const [view] = await (lock ? query.for('update') : query)
  return view
}

export async function countViews(db: Queries, viewer: Viewer): Promise<number> {
  const [row] = await db
    .select({ views: count() })
    .from(savedViews)
    .where(and(inTenantOf(viewer), eq(savedViews.userId, viewerOf(viewer))))
  return row?.views ?? 0
}

export async function addView(db: Queries, actor: Actor, fields: ViewFields): Promise<SavedView> {
  const now = new Date()
  const view: SavedView = {
    ...{ id: randomUUIDv7(), userId: viewerOf(actor), userName: actor.name, tenantId: actor.tenantId },
    ...{ ...fields, createdAt: now, changedAt: now },
  }
  await db.insert(savedViews).values(view)
  return view
}

export async function changeView(db: Queries, view: SavedView): Promise<void> {
  const { name, page, query, shared, changedAt } = view
  await db.update(savedViews).set({ name, page, query, shared, changedAt }).where(eq(savedViews.id, view.id))
}

export async function deleteView(db: Queries, id: string): Promise<void> {
  await db.delete(savedViews).where(eq(savedViews.id, id))
}
