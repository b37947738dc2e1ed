import { resolve } from 'node:path'
import type { Sql } from 'postgres'
import type { Config } from '../config/config.ts'
import { type Connections, openConnections } from '../db/connections.ts'
import { embeddedUrl } from '../db/embedded.ts'
import { inTime } from '../runtime/in-time.ts'

/**
 * The stored channels, groups and models. The queries use no columns of recent releases, because the doctor
 * may be run before an upgrade, when the database still has the old schema.
 */
export interface StoredRows {
  channels: CheckedChannel[]
  /** Each group, with the first and the last tenant that owns a key in it. */
  groups: StoredGroup[]
  /** The models that have a price for output. */
  models: { id: string; isSized: boolean }[]
  /** Whether the money of any tenant, group or key is limited. */
  isMoneyLimited: boolean
}

export interface CheckedChannel {
  name: string
  ofFile: boolean
  allowPrivateAddress: boolean
  /** Null if none are specified. */
  privateAddresses: string[] | null
  sharedState: string | null
}

export interface StoredGroup {
  name: string
  channels: string[]
  first: string | null
  last: string | null
  policy: 'drain' | 'abort'
  seconds: number
  unseen: 'estimate' | 'hold'
  /** Whether the money of any key in the group is limited. */
  isMoneyLimited: boolean
}

/** Returns undefined if the database cannot be queried or does not have these tables yet. */
export function readStoredRows(config: Config): Promise<StoredRows | undefined> {
  return fromDatabase(config, async ({ sql }) => ({
    channels: await readChannels(sql),
    groups: await readGroups(sql),
    models: await readModels(sql),
    isMoneyLimited: await readIsLimited(sql),
  }))
}

function readChannels(sql: Sql) {
  return sql<CheckedChannel[]>`
    SELECT name, managed_by = 'file' AS "ofFile", allow_private_address AS "allowPrivateAddress",
      to_jsonb(c) -> 'private_addresses' AS "privateAddresses", to_jsonb(c) ->> 'shared_state' AS "sharedState"
    FROM channels c WHERE disabled_at IS NULL ORDER BY name`
}

function readGroups(sql: Sql) {
  return sql<StoredGroup[]>`
    SELECT name, channels, client_gone_policy AS policy, client_gone_seconds AS seconds,
      coalesce(to_jsonb(g) ->> 'client_gone_unseen', 'estimate') AS unseen,
      (SELECT tenant_id FROM keys WHERE group_id = g.id AND revoked_at IS NULL ORDER BY tenant_id LIMIT 1) AS first,
      (SELECT tenant_id FROM keys WHERE group_id = g.id AND revoked_at IS NULL ORDER BY tenant_id DESC LIMIT 1) AS last,
      EXISTS (
        SELECT FROM keys k JOIN accounts a ON a.id = k.tenant_id WHERE k.group_id = g.id AND k.revoked_at IS NULL AND
          (a.limited OR coalesce(k.budget_day_nano, k.budget_month_nano, k.budget_total_nano,
            g.budget_day_nano, g.budget_month_nano, g.budget_total_nano) IS NOT NULL
            OR a.id = ANY (ARRAY(SELECT owner_id FROM budgets WHERE owner = 'tenant')))) AS "isMoneyLimited"
    FROM key_groups g ORDER BY name`
}

/** The newest price of a model is the one in force. */
function readModels(sql: Sql) {
  return sql<StoredRows['models']>`
    SELECT m.id, m.context_length IS NOT NULL AS "isSized" FROM models m
    JOIN LATERAL (
      SELECT output_nano FROM prices WHERE model_id = m.id ORDER BY created_at DESC, id DESC LIMIT 1) p ON true
    WHERE m.disabled_at IS NULL AND p.output_nano IS NOT NULL ORDER BY m.id`
}

async function readIsLimited(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ isLimited: boolean }[]>`
    SELECT EXISTS (SELECT FROM accounts WHERE limited)
      OR EXISTS (SELECT FROM budgets WHERE owner <> 'key')
      OR EXISTS (SELECT FROM keys WHERE revoked_at IS NULL
        AND coalesce(budget_day_nano, budget_month_nano, budget_total_nano) IS NOT NULL) AS "isLimited"`
  return row?.isLimited === true
}

/** Returns the result of `read`, or undefined if the database cannot be queried. */
export async function fromDatabase<T>(
  config: Config,
  read: (connections: Connections) => Promise<T>,
): Promise<T | undefined> {
  const url = config.databaseUrl ?? embeddedUrl(resolve(config.dataDir))
  if (url === undefined) return undefined
  const connections = openConnections(url, { max: 1, applicationName: 'tollgate doctor' })
  try {
    return await inTime(read(connections), 8_000, 'Postgres')
  } catch {
    return undefined
  } finally {
    await connections.end()
  }
}
