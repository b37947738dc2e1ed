import type { Sql } from 'postgres'

/**
 * How long ended processes are remembered at least. A shipped journal that is older is never shipped again.
 */
export const instanceKeepDays = 30

/**
 * Deletes the rows of processes that have ended or were lost, together with the positions of their journals,
 * some days after their last heartbeat. Does nothing if another process is doing so or has done so within
 * `apartMs`.
 * A journal whose process is no longer known counts as new. A process is
 * therefore only forgotten once its rows are past their retention. If its journal turns up after that, it is
 * deleted if it was shipped, and shipped from its start if not.
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
