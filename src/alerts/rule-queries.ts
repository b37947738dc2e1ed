import type { TypedQueries } from '../db/connections.ts'
import { and, asc, count, desc, eq, gt, isNull, lt, or, sql } from '../db/drizzle.cjs'
import { alertEpisodes, alertMessages, alertRules, groups, keys, tenants } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'

export type RuleRow = typeof alertRules.$inferSelect
export type RuleToEvaluate = Pick<
  RuleRow,
  'id' | 'tenantId' | 'kind' | 'condition' | 'version' | 'createdAt' | 'evaluatedAt'
>

/** Returns the enabled rules, those that have waited longest first, and the time of Postgres. */
export async function listRulesToEvaluate(
  db: TypedQueries,
  limit: number,
): Promise<{ rules: RuleToEvaluate[]; now: Date }> {
  const rows = await db
    .select({
      id: alertRules.id,
      tenantId: alertRules.tenantId,
      kind: alertRules.kind,
      condition: alertRules.condition,
      version: alertRules.version,
      createdAt: alertRules.createdAt,
      evaluatedAt: alertRules.evaluatedAt,
    })
    .from(alertRules)
    .where(and(eq(alertRules.enabled, true), isNull(alertRules.deletedAt)))
    .orderBy(sql`${alertRules.evaluatedAt} asc nulls first`)
    .limit(limit)
  const [clock] = await db.execute<{ now: string }>(sql`SELECT now()::text AS now`)
  return { rules: rows, now: new Date(String(clock?.now)) }
}

export interface RuleFilter {
  tenantId?: string | undefined
  kind?: string | undefined
  enabled?: boolean | undefined
  by: 'created_at' | 'name'
  descending: boolean
  /** The last row on the previous page. */
  after: { value: string | number | null; id: string } | undefined
  limit: number
}

/** `created_at` has the same order as the ids, which are uuidv7. */
export function listRules(db: Queries, filter: RuleFilter): Promise<RuleRow[]> {
  const { tenantId, kind, enabled, by, descending, after, limit } = filter
  const [order, past] = descending ? [desc, lt] : [asc, gt]
  const name = String(after?.value ?? '')
  const behind =
    after === undefined
      ? undefined
      : by === 'created_at'
        ? past(alertRules.id, after.id)
        : or(past(alertRules.name, name), and(eq(alertRules.name, name), past(alertRules.id, after.id)))
  return db
    .select()
    .from(alertRules)
    .where(
      and(
        isNull(alertRules.deletedAt),
        tenantId === undefined ? undefined : eq(alertRules.tenantId, tenantId),
        kind === undefined ? undefined : eq(alertRules.kind, kind),
        enabled === undefined ? undefined : eq(alertRules.enabled, enabled),
        behind,
      ),
    )
    .orderBy(...(by === 'name' ? [order(alertRules.name)] : []), order(alertRules.id))
    .limit(limit)
}

/** `lock` locks the row for a change. */
export async function findRule(db: Queries, id: string, lock = false): Promise<RuleRow | undefined> {
  const query = db
    .select()
    .from(alertRules)
    .where(and(eq(alertRules.id, id), isNull(alertRules.deletedAt)))
  const [row] = await (lock ? query.for('update') : query)
  return row
}

/** Other transactions that create rules wait here until the commit. */
export async function lockRules(tx: Queries): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(7023921)`)
}

/**
 * Returns the number of all rules and of one tenant's rules, under `lockRules`, so that two transactions
 * cannot exceed the limit together.
 */
export async function countRules(
  tx: Queries,
  tenantId: string | null,
): Promise<{ all: number; own: number }> {
  await lockRules(tx)
  const [all] = await tx.select({ rules: count() }).from(alertRules).where(isNull(alertRules.deletedAt))
  if (tenantId === null) return { all: all?.rules ?? 0, own: 0 }
  const [own] = await tx
    .select({ rules: count() })
    .from(alertRules)
    .where(and(isNull(alertRules.deletedAt), eq(alertRules.tenantId, tenantId)))
  return { all: all?.rules ?? 0, own: own?.rules ?? 0 }
}

export async function addRule(tx: Queries, rule: RuleRow): Promise<void> {
  await tx.insert(alertRules).values(rule)
}

type Changed = Partial<
  Pick<
    RuleRow,
    | 'name'
    | 'kind'
    | 'condition'
    | 'enabled'
    | 'resolveAfterSeconds'
    | 'webhookHost'
    | 'webhookFormat'
    | 'webhookSealed'
    | 'deletedAt'
  >
>

export async function changeRule(
  tx: Queries,
  { id, version }: Pick<RuleRow, 'id' | 'version'>,
  changed: Changed,
): Promise<RuleRow> {
  const [row] = await tx
    .update(alertRules)
    .set({ ...changed, version: version + 1 })
    .where(eq(alertRules.id, id))
    .returning()
  if (row === undefined) throw new Error('a locked rule has disappeared')
  return row
}

/**
 * Closes the open episodes of a rule that is no longer evaluated, each with its message. The caller has
 * locked the rule.
 */
export async function closeEpisodes(tx: Queries, rule: RuleRow, why: string): Promise<void> {
  await tx.execute(sql`
    WITH closed AS (
      UPDATE ${alertEpisodes} SET closed_at = now() WHERE rule_id = ${rule.id}::uuid AND closed_at IS NULL
      RETURNING id, name, value
    )
    INSERT INTO ${alertMessages} (episode_id, event, rule_id, summary, value, created_at, state, due_at)
    SELECT id, 'closed', ${rule.id}::uuid, name || ': ' || ${why}::text || '.', value, now(), 'pending', now()
    FROM closed WHERE ${rule.webhookHost !== null}::boolean`)
}

/** Marks the messages of a rule without a webhook as failed. */
export async function dropMessages(tx: Queries, ruleId: string): Promise<void> {
  await tx
    .update(alertMessages)
    .set({ state: 'failed', problem: 'the webhook was removed' })
    .where(and(eq(alertMessages.ruleId, ruleId), eq(alertMessages.state, 'pending')))
}

/** Returns whether a key, group or tenant exists and belongs to the tenant. Null stands for any tenant. */
export async function isThere(
  tx: Queries,
  of: 'key' | 'group' | 'tenant',
  id: string,
  tenantId: string | null,
): Promise<boolean> {
  if (of === 'group')
    return (await tx.select({ id: groups.id }).from(groups).where(eq(groups.id, id))).length > 0
  const [owner] =
    of === 'tenant'
      ? await tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, id))
      : await tx.select({ id: keys.tenantId }).from(keys).where(eq(keys.id, id))
  return owner !== undefined && (tenantId === null || owner.id === tenantId)
}
