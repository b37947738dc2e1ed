import type { Database } from '../db/database.ts'

/** Open reservations by age. */
export interface HoldAges {
  /** Starting with the youngest. `underSeconds` is null for the last group, which has no upper limit. */
  ages: readonly { underSeconds: number | null; count: number; nano: bigint }[]
  /** False if there are more reservations than were counted. */
  isComplete: boolean
}

const bounds = [60, 600, 3_600, 86_400]
const countedMax = 100_000
const withinMs = 2_000

/**
 * Counts the reservations of running requests, up to 100,000. Rejects with `unavailable` if Postgres does not
 * answer within 2 s.
 */
export async function holdAges({ reads }: Pick<Database, 'reads'>): Promise<HoldAges> {
  const rows = await reads.ask(
    ({ sql }) => sql<{ bucket: number; count: string; nano: string }[]>`
      SELECT width_bucket(extract(epoch FROM now() - v.created_at), ${bounds}::int4[]::float8[]) AS bucket,
        count(*) AS count, sum(v.amount_nano) AS nano
      FROM (SELECT created_at, amount_nano FROM reservations LIMIT ${countedMax + 1}) AS v GROUP BY 1`,
    { withinMs },
  )
  const ages = [...bounds, null].map((underSeconds, bucket) => {
    const found = rows.find((row) => row.bucket === bucket)
    return { underSeconds, count: Number(found?.count ?? 0), nano: BigInt(found?.nano ?? 0) }
  })
  return { ages, isComplete: ages.reduce((sum, { count }) => sum + count, 0) <= countedMax }
}

/**
 * How far the journals of other processes have been shipped to Postgres: the last segment and its position,
 * by process.
 */
export async function othersPositions(
  { state }: Pick<Database, 'state'>,
  instanceId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await state.ask(
    ({ sql }) => sql<{ instance: string; at: string }[]>`
      SELECT DISTINCT ON (instance_id) instance_id AS instance, segment || ' ' || position AS at
      FROM journal_positions WHERE instance_id <> ${instanceId} ORDER BY instance_id, segment DESC`,
  )
  return new Map(rows.map(({ instance, at }) => [instance, at]))
}
