import { randomUUIDv7 } from 'node:crypto'
import type { Json } from '../canonical/json.ts'
import { and, asc, desc, eq, gt, gte, lt } from '../db/drizzle.cjs'
import { auditLog } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'
import type { Actor } from './actor.ts'

/** One change, as recorded by the code that makes it. */
export interface AuditEntry {
  /** The resource and the verb, for example `key.rotate`. */
  action: string
  /** The kind of the changed object, for example `key`. */
  resource: string
  id: string
  /** The object's name at the time of the change, for people to read. */
  name?: string | undefined
  /** The tenant that the change belongs to; null if it belongs to none. */
  tenantId?: string | null
  /**
   * The resource before and after the change, as the API shows it, without secrets. Null: it did not exist.
   */
  before?: Json | null
  after?: Json | null
}

/** The author of a change and their address. */
export interface AuditSource {
  actor:
    | Pick<Actor, 'kind' | 'id' | 'userId' | 'name'>
    | { kind: 'key'; id: string; userId: null; name: string }
    | { kind: 'file' | 'system'; id: null; userId: null; name: string }
  address: string | null
  userAgent: string | null
  requestId: string | null
}

/** Writes a line of the audit log in the transaction of the change. */
export async function writeAudit(tx: Queries, source: AuditSource, entry: AuditEntry): Promise<void> {
  const { actor } = source
  await tx.insert(auditLog).values({
    id: randomUUIDv7(),
    createdAt: new Date(),
    actorKind: actor.kind,
    actorId: actor.id,
    userId: actor.userId,
    actorName: actor.name,
    address: source.address,
    userAgent: source.userAgent,
    requestId: source.requestId,
    action: entry.action,
    resource: entry.resource,
    resourceId: entry.id,
    resourceName: entry.name ?? null,
    tenantId: entry.tenantId ?? null,
    before: entry.before ?? null,
    after: entry.after ?? null,
  })
}

/**
 * Searches for a line that does not exist. It takes the place of writing a line, so that a caller cannot tell
 * from the timing that none was written.
 */
export async function findNoAudit(tx: Queries): Promise<void> {
  await tx.select({ id: auditLog.id }).from(auditLog).where(eq(auditLog.id, randomUUIDv7()))
}

export interface AuditFilter {
  id?: string | undefined
  action?: string | undefined
  resource?: string | undefined
  resource_id?: string | undefined
  tenant_id?: string | undefined
  user_id?: string | undefined
  /** Inclusive. */
  from?: Date | undefined
  /** Exclusive. */
  to?: Date | undefined
  /** The id of the last line of the previous page. */
  after?: string | undefined
  descending: boolean
  limit: number
}

/** Lists lines in id order, which is chronological. */
export function listAudit(db: Queries, filter: AuditFilter) {
  const { id, action, resource, resource_id, tenant_id, user_id, from, to, after, descending, limit } = filter
  return db
    .select()
    .from(auditLog)
    .where(
      and(
        id === undefined ? undefined : eq(auditLog.id, id),
        action === undefined ? undefined : eq(auditLog.action, action),
        resource === undefined ? undefined : eq(auditLog.resource, resource),
        resource_id === undefined ? undefined : eq(auditLog.resourceId, resource_id),
        tenant_id === undefined ? undefined : eq(auditLog.tenantId, tenant_id),
        user_id === undefined ? undefined : eq(auditLog.userId, user_id),
        from === undefined ? undefined : gte(auditLog.createdAt, from),
        to === undefined ? undefined : lt(auditLog.createdAt, to),
        after === undefined ? undefined : (descending ? lt : gt)(auditLog.id, after),
      ),
    )
    .orderBy((descending ? desc : asc)(auditLog.id))
    .limit(limit)
}
