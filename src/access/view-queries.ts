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

/** The user whose views the actor sees as its own. */
export function viewerOf({ userId }: Pick<Actor, 'userId'>): string {
  return userId ?? operator
}

type Viewer = Pick<Actor, 'userId' | 'tenantId'>

/**
 * Selects the viewer's own views and those shared by others of its tenant, or by other operators if it is
 * one.
 */
function visibleTo(viewer: Viewer) {
  return and(inTenantOf(viewer), or(eq(savedViews.userId, viewerOf(viewer)), eq(savedViews.shared, true)))
}

/**
 * Selects views created for the viewer's tenant, or for no tenant if the viewer has none. A user can have
 * tokens for several tenants, all tokens created with ADMIN_TOKEN count as one user, and a user can move to
 * another tenant. Views stay in the tenant for which they were created.
 */
function inTenantOf({ tenantId }: Viewer) {
  return tenantId === null ? isNull(savedViews.tenantId) : eq(savedViews.tenantId, tenantId)
}

/** Lists views in id order, which is the order of creation. */
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

/** Set `lock` before changing the view. */
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
