import { randomUUIDv7 } from 'node:crypto'
import type { TypedQueries } from '../db/connections.ts'
import { and, desc, eq, getTableColumns, gt, inArray, lt, sql } from '../db/drizzle.cjs'
import { accounts, attempts, channels, groups, keys, probeRuns, requests, tenants } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'

export type ProbeRun = typeof probeRuns.$inferSelect
type NewProbeRun = typeof probeRuns.$inferInsert

/** The owners of the requests of a run. */
export interface ProbeOwners {
  tenantId: string
  groupId: string
  keyId: string
}

/**
 * Returns the tenant and group of probes and the key of this name, creating those that are missing. This is
 * one statement because a serving process has no transactions. The key is disabled, and no secret matches its
 * hash, so it cannot be used.
 */
export async function ensureProbeKey(
  db: TypedQueries,
  {
    tenant,
    key,
    secretHash,
    costMax,
  }: { tenant: string; key: string; secretHash: Buffer; costMax: bigint | null },
): Promise<ProbeOwners> {
  const [owners] = await db.execute<{ tenant_id: string; group_id: string; key_id: string }>(sql`
    WITH tenant AS (
      INSERT INTO ${tenants} (id, name, managed_by) VALUES (${randomUUIDv7()}::uuid, ${tenant}, 'admin')
      ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id
    ), account AS (
      INSERT INTO ${accounts} (id, limited) SELECT id, false FROM tenant ON CONFLICT (id) DO NOTHING
    ), key_group AS (
      INSERT INTO ${groups} (id, name, models, channels, managed_by)
      VALUES (${randomUUIDv7()}::uuid, ${tenant}, '{*}', '{*}', 'admin')
      ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id
    ), key AS (
      INSERT INTO ${keys} (id, tenant_id, group_id, name, secret_hash, hint, budget_total_nano, disabled_at, managed_by)
      SELECT ${randomUUIDv7()}::uuid, tenant.id, key_group.id, ${key}, decode(${secretHash.toString('hex')}, 'hex'), 'probe',
        ${costMax === null ? null : String(costMax)}::bigint, now(), 'admin'
      FROM tenant, key_group
      ON CONFLICT (tenant_id, name) DO UPDATE SET name = excluded.name RETURNING id
    )
    SELECT tenant.id AS tenant_id, key_group.id AS group_id, key.id AS key_id FROM tenant, key_group, key`)
  if (owners === undefined) throw new Error('could not create the key of a probe')
  return { tenantId: owners.tenant_id, groupId: owners.group_id, keyId: owners.key_id }
}

export async function addRuns(db: Queries, rows: readonly NewProbeRun[]): Promise<void> {
  if (rows.length > 0) await db.insert(probeRuns).values([...rows])
}

/** Returns runs, newest first and before the given id, with the names of their channels and their costs. */
export async function listRuns(
  db: TypedQueries,
  {
    id,
    channel,
    model,
    before,
    limit,
  }: { id?: string; channel?: string; model?: string; before?: string; limit: number },
) {
  const { report, ...columns } = getTableColumns(probeRuns)
  return await db
    .select({
      ...columns,
      // A list does not need the reports.
      ...(id !== undefined && { report }),
      channel: channels.name,
      costNano: sql<
        bigint | null
      >`(SELECT CASE WHEN bool_and(${requests.cost} IS NOT NULL) THEN sum(${requests.cost}) END FROM ${requests} WHERE ${requests.keyId} = ${probeRuns.keyId}
        AND ${requests.createdAt} >= ${probeRuns.startedAt} AND ${requests.createdAt} <= coalesce(${probeRuns.endedAt}, now()))`.mapWith(
        (value: string | null) => (value === null ? null : BigInt(value)),
      ),
    })
    .from(probeRuns)
    .innerJoin(channels, eq(channels.id, probeRuns.channelId))
    .where(
      and(
        id === undefined ? undefined : eq(probeRuns.id, id),
        channel === undefined ? undefined : eq(channels.name, channel),
        model === undefined ? undefined : eq(probeRuns.model, model),
        before === undefined ? undefined : lt(probeRuns.id, before),
      ),
    )
    .orderBy(desc(probeRuns.id))
    .limit(limit)
}

/**
 * Returns undefined when the run has ended or does not exist. A run that breaks off is restarted, but not
 * indefinitely: after an hour it counts as failed.
 */
export async function beginRun(db: TypedQueries, id: string): Promise<ProbeRun | undefined> {
  await db
    .update(probeRuns)
    .set({ state: 'failed', error: 'The probe did not finish within an hour.', endedAt: sql`now()` })
    .where(
      and(
        eq(probeRuns.id, id),
        eq(probeRuns.state, 'running'),
        lt(probeRuns.startedAt, sql`now() - interval '1 hour'`),
      ),
    )
  const [row] = await db
    .update(probeRuns)
    .set({ state: 'running', startedAt: sql`coalesce(${probeRuns.startedAt}, now())` })
    .where(and(eq(probeRuns.id, id), inArray(probeRuns.state, ['queued', 'running'])))
    .returning()
  return row
}

/** Returns the costs of these requests, as far as they are known and shipped. */
export async function costsOf(db: TypedQueries, ids: readonly string[]): Promise<Map<string, bigint>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .select({ id: requests.id, costNano: requests.cost })
    .from(requests)
    .where(inArray(requests.id, [...ids]))
  return new Map(rows.flatMap(({ id, costNano }) => (costNano === null ? [] : [[id, costNano] as const])))
}

export async function noteKey(db: TypedQueries, id: string, keyId: string): Promise<void> {
  await db.update(probeRuns).set({ keyId }).where(eq(probeRuns.id, id))
}

export async function endRun(
  db: TypedQueries,
  id: string,
  end: { state: 'ended' | 'failed'; report?: Record<string, unknown>; error?: string },
): Promise<void> {
  await db
    .update(probeRuns)
    .set({ ...end, endedAt: sql`now()` })
    .where(and(eq(probeRuns.id, id), inArray(probeRuns.state, ['queued', 'running'])))
}

/** Returns the ids of runs that have not ended and are older than `olderMs`. The queue may have lost them. */
export async function waitingRuns(db: TypedQueries, olderMs: number): Promise<string[]> {
  const rows = await db
    .select({ id: probeRuns.id })
    .from(probeRuns)
    .where(
      and(
        inArray(probeRuns.state, ['queued', 'running']),
        lt(probeRuns.createdAt, sql`now() - make_interval(secs => ${olderMs / 1000})`),
      ),
    )
    .limit(runsAtOnce)
  return rows.map(({ id }) => id)
}

const runsAtOnce = 1000

/** Returns the newest run of each offer and protocol, by the time it was requested. */
export async function newestRuns(db: TypedQueries): Promise<Map<string, Date>> {
  const rows = await db
    .selectDistinctOn([probeRuns.channelId, probeRuns.model, probeRuns.protocol], {
      channelId: probeRuns.channelId,
      model: probeRuns.model,
      protocol: probeRuns.protocol,
      createdAt: probeRuns.createdAt,
    })
    .from(probeRuns)
    .orderBy(probeRuns.channelId, probeRuns.model, probeRuns.protocol, desc(probeRuns.createdAt))
  return new Map(rows.map((row) => [placeOf(row), row.createdAt]))
}

export function placeOf({
  channelId,
  model,
  protocol,
}: {
  channelId: string
  model: string
  protocol: string
}): string {
  return JSON.stringify([channelId, model, protocol])
}

export async function deleteRunsBefore(db: TypedQueries, days: number): Promise<void> {
  await db
    .delete(probeRuns)
    .where(
      and(
        inArray(probeRuns.state, ['ended', 'failed']),
        lt(probeRuns.createdAt, sql`now() - make_interval(days => ${days})`),
      ),
    )
}

/** The last call of a request that has just ended. */
export async function readAttempt(db: TypedQueries, requestId: string) {
  const [row] = await db
    .select({
      status: attempts.status,
      firstByteMs: attempts.firstByteMs,
      errorMessage: attempts.errorMessage,
    })
    .from(attempts)
    .where(
      and(
        eq(attempts.requestId, requestId),
        eq(attempts.passedOver, false),
        gt(attempts.createdAt, sql`now() - interval '10 minutes'`),
      ),
    )
    .orderBy(desc(attempts.ordinal))
    .limit(1)
  return row
}
