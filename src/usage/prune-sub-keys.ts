import type { Sql } from 'postgres'

/** The maximum number of keys deleted by one statement. */
const stepMax = 1_000
/** The maximum number of statements per pass; the rest waits for the next hour. */
const stepsMax = 20

/**
 * Deletes sub-keys that were revoked so long ago that the usage log no longer contains their rows. Until
 * then, a new budget of the parent key must count what they have spent. `names` keeps their names, because
 * the sums keep their ids indefinitely. Returns the number of deleted keys. Does nothing if another process
 * has just done it.
 */
export async function pruneSubKeys(sql: Sql, afterDays: number, apartMs: number): Promise<number> {
  const [claim] = await sql<{ mine: boolean }[]>`SELECT claim_sweep('sub_keys', ${apartMs}::integer) AS mine`
  if (claim?.mine !== true) return 0
  let deleted = 0
  for (let step = 0; step < stepsMax; step++) {
    // One day is added because their last requests may have ended after they were revoked.
    const { count } = await sql`
      WITH gone AS (
        DELETE FROM keys WHERE id = ANY (ARRAY(
          SELECT k.id FROM keys k
          WHERE k.parent_id IS NOT NULL AND k.revoked_at < now() - make_interval(days => ${afterDays + 1})
          ORDER BY k.revoked_at LIMIT ${stepMax}))
        RETURNING id
      ), periods AS (
        DELETE FROM budget_periods p USING gone WHERE p.owner_id = gone.id AND p.reserved_nano = 0
      )
      SELECT id FROM gone`
    deleted += count
    if (count < stepMax) break
  }
  return deleted
}
