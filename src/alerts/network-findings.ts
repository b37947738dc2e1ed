import type { Sql } from 'postgres'
import type { ConditionOf } from './condition.ts'
import { type AlertFinding, subjectsMax } from './finding.ts'

/**
 * How long a network counts as new. If the evaluation was paused for longer, the length of the pause applies
 * instead.
 */
const toldMs = 3_600_000

export interface NetworkScope {
  tenantId: string | null
  ruleCreatedAt: Date
  /** Null if the rule has never been evaluated. */
  evaluatedAt: Date | null
}

/** Returns the keys that were used from a network from which they had not been used before. */
export async function networkFindings(
  sql: Sql,
  { key_id: keyId, learning_days: learningDays }: ConditionOf<'new_network'>,
  { tenantId, ruleCreatedAt, evaluatedAt }: NetworkScope,
): Promise<AlertFinding[]> {
  const rows = await sql<
    {
      id: string
      name: string
      tenant: string
      networks: string[]
      count: number
      address: string
      first_at: Date
    }[]
  >`
    SELECT k.id, k.name, t.name AS tenant, to_jsonb((array_agg(n.network ORDER BY n.noted_at DESC))[1:10]) AS networks,
      count(*)::integer AS count, (array_agg(n.address ORDER BY n.noted_at DESC))[1] AS address,
      max(n.first_request_at) AS first_at
    FROM key_networks n JOIN keys k ON k.id = n.key_id JOIN tenants t ON t.id = k.tenant_id
    WHERE n.noted_at > least(now() - ${toldMs}::integer * interval '1 ms', ${evaluatedAt}::timestamptz)
      AND n.noted_at > ${ruleCreatedAt}::timestamptz
      AND (${keyId}::uuid IS NULL OR k.id = ${keyId}::uuid)
      AND (${tenantId}::uuid IS NULL OR k.tenant_id = ${tenantId}::uuid)
      AND n.first_request_at > (SELECT min(f.first_request_at) FROM key_networks f WHERE f.key_id = n.key_id)
        + ${learningDays}::integer * interval '1 day'
    GROUP BY k.id, k.name, t.name ORDER BY k.id LIMIT ${subjectsMax}`
  return rows.map((row) => {
    const name = `key ${row.tenant}/${row.name}`
    const [network = ''] = row.networks
    const more = row.count > 1 ? `, nor from ${row.count - 1} other new networks` : ''
    return {
      subject: row.id,
      name,
      value: network,
      summary: `${name} was used from ${row.address}: the key was never used from the network ${network} before${more}.`,
      details: {
        key_id: row.id,
        networks: row.networks,
        address: row.address,
        first_request_at: row.first_at.toISOString(),
      },
    }
  })
}
