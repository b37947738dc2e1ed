import type { Sql } from 'postgres'

/**
 * How long processes that have ended are known at least. A shipped journal that is older is never shipped
 * again.
 */
export const instanceKeepDays = 30

/**
 * Delete the rows of processes that have ended, or were lost, some days after their last heartbeat, with
 * the positions of their journals; unless another process does so now, or has within `apartMs`.
 *
 * A journal belongs to a known process: one that comes back unknown counts as new. So a process is forgotten
 * when its rows are past their retention. Then its journal is deleted if it was shipped, and shipped from its
 * start if not.
 */
export async function forgetInstances(sql: Sql, retentionDays: number, apartMs: number): Promise<void> {
  const days = Math.max(instanceKeepDays, retentionDays)
  await sql`
    WITH forgotten AS (
      DELETE FROM instances i
      WHERE (SELECT claim_sweep('instances', ${apartMs}::integer))
        AND i.state <> 'live' AND i.heartbeat_at < now() - make_interval(days => ${days})
        AND NOT EXISTS (SELECT 1 FROM reservations v WHERE v.instance_id = i.id)
      RETURNING i.id
    )
    DELETE FROM journal_positions p USING forgotten f WHERE p.instance_id = f.id`
}
