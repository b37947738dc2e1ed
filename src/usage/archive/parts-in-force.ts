import type { Database } from '../../db/database.ts'
import type { Terms } from '../../db/pool.ts'
import type { ArchivedTable } from './options.ts'

/** A file whose rows exist only in the archive. */
export interface PartInForce {
  location: string
  /** YYYY-MM-DD */
  day: string
  bytes: number
  sha256: string
  firstAt: Date
  lastAt: Date
}

/** Both ends are inclusive. */
export interface DayRange {
  from?: Date | undefined
  to?: Date | undefined
}

/** The files that can contain rows of this time span, newest first. */
export async function partsInForce(
  { reads }: Pick<Database, 'reads'>,
  table: ArchivedTable,
  { from, to }: DayRange,
  terms: Terms = {},
): Promise<PartInForce[]> {
  const rows = await reads.ask(
    ({ sql }) => sql<(Omit<PartInForce, 'bytes'> & { bytes: string })[]>`
      SELECT location, day::text, bytes::text, sha256, first_at AS "firstAt", last_at AS "lastAt" FROM archived_days
      WHERE table_name = ${table} AND state = 'dropped' AND location IS NOT NULL
        AND (${from ?? null}::timestamptz IS NULL OR last_at >= ${from ?? null})
        AND (${to ?? null}::timestamptz IS NULL OR first_at <= ${to ?? null})
      ORDER BY day DESC, part LIMIT ${partsMax}`,
    terms,
  )
  return rows.map((row) => ({ ...row, bytes: Number(row.bytes) }))
}

/** Enough for more than fifty years of days. */
const partsMax = 20_000

/**
 * Groups the files into turns of whole days, newest first. Each turn has twice as many days as the one
 * before: most pages are full after the first, and a rare row is soon found among many days. No turn exceeds
 * `bytesMax`, unless a single day does.
 */
export function turnsOfParts(parts: readonly PartInForce[], bytesMax: number): PartInForce[][] {
  const days = new Map<string, PartInForce[]>()
  for (const part of parts) days.set(part.day, [...(days.get(part.day) ?? []), part])
  const turns: PartInForce[][] = []
  let turn: PartInForce[] = []
  let bytes = 0
  let daysLeft = 1
  let daysMost = 1
  for (const ofDay of days.values()) {
    const dayBytes = ofDay.reduce((sum, part) => sum + part.bytes, 0)
    if (turn.length > 0 && (daysLeft === 0 || bytes + dayBytes > bytesMax)) {
      turns.push(turn)
      turn = []
      bytes = 0
      daysMost = Math.min(2 * daysMost, turnDaysMax)
      daysLeft = daysMost
    }
    turn.push(...ofDay)
    bytes += dayBytes
    daysLeft--
  }
  return turn.length > 0 ? [...turns, turn] : turns
}

const turnDaysMax = 64
