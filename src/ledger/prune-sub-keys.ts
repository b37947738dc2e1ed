import type { Sql } from 'postgres'

/** Keys that one statement deletes. */
const stepMax = 1_000
/** Statements of one pass; the rest waits for the next hour. */
const stepsMax = 20

/**
 * Delete sub-keys that were revoked long enough ago that the usage log no longer has rows of theirs: until
 * then a new budget of their maker counts what they spent. `names` keeps their names, because the sums have
 * their ids indefinitely. Returns how many were deleted. Does nothing where another process has just done it.
 */
export async function pruneSubKeys(sql: Sql, afterDays: number, apartMs: number): Promise<number> {
  const [claim] = await sql<{ mine: boolean }[]>`SELECT claim_sweep('sub_keys', ${apartMs}::integer) AS mine`
  if (claim?.mine !== true) return 0
  let deleted = 0
  for (let step = 0; step < stepsMax; step++) {
    // A day more: their last requests may have ended after they were revoked.
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
