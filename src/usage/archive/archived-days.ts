import type { Sql } from 'postgres'
import type { FileFacts } from './sums.ts'

/** Identifies a file of the archive. */
export interface ArchivedPart {
  table: string
  /** YYYY-MM-DD */
  day: string
  part: number
}

export interface KnownPart extends ArchivedPart {
  state: 'writing' | 'verified' | 'dropped' | 'abandoned'
  location: string | null
  sha256: string | null
}

/** The days whose rows exist only in the archive, oldest first. Both ends are inclusive. */
export async function daysInForce(sql: Sql, from: string, to: string): Promise<string[]> {
  const days = await sql<{ day: string }[]>`
    SELECT DISTINCT day::text FROM archived_days
    WHERE state = 'dropped' AND day BETWEEN ${from}::date AND ${to}::date ORDER BY day`
  return days.map(({ day }) => day)
}

/** The files of these days that an archiver has begun but that are not in force. Both ends are inclusive. */
export async function begunParts(sql: Sql, from: string, to: string): Promise<KnownPart[]> {
  return await sql<KnownPart[]>`
    SELECT table_name AS table, day::text, part, state, location, sha256 FROM archived_days
    WHERE state IN ('writing', 'verified') AND day BETWEEN ${from}::date AND ${to}::date ORDER BY day, table_name, part`
}

/** The files for one day of a table, oldest first. */
export async function partsOfDay(sql: Sql, table: string, day: string): Promise<KnownPart[]> {
  return await sql<KnownPart[]>`
    SELECT table_name AS table, day::text, part, state, location, sha256 FROM archived_days
    WHERE table_name = ${table} AND day = ${day}::date ORDER BY part`
}

/** Records a new file before it is written, under a number that no other attempt has used. */
export async function beginPart(
  sql: Sql,
  table: string,
  day: string,
  locationOf: (part: number) => string,
): Promise<ArchivedPart & { location: string }> {
  const [last] = await sql<{ part: number | null }[]>`
    SELECT max(part) AS part FROM archived_days WHERE table_name = ${table} AND day = ${day}::date`
  const part = (last?.part ?? -1) + 1
  const location = locationOf(part)
  // If another archiver has used the number, the primary key rejects this row.
  await sql`
    INSERT INTO archived_days (day, table_name, part, state, location, started_at)
    VALUES (${day}::date, ${table}, ${part}, 'writing', ${location}, clock_timestamp())`
  return { table, day, part, location }
}

export interface VerifiedFile extends FileFacts {
  /** Null if the day has no rows and therefore no file. */
  location: string | null
  bytes: number
  sha256: string | null
}

/** False if another archiver has meanwhile abandoned it. */
export async function verifyPart(
  sql: Sql,
  { table, day, part }: ArchivedPart,
  file: VerifiedFile,
): Promise<boolean> {
  const changed = await sql`
    UPDATE archived_days SET state = 'verified', verified_at = clock_timestamp(), location = ${file.location},
      rows = ${file.rows}::bigint, sums = ${JSON.stringify(file.sums)}::jsonb, bytes = ${file.bytes}::bigint,
      sha256 = ${file.sha256}, first_at = ${file.firstAt}, last_at = ${file.lastAt}
    WHERE table_name = ${table} AND day = ${day}::date AND part = ${part} AND state = 'writing'`
  return changed.count === 1
}

/** Abandons a file: it is no longer read, and a pass deletes it. Does nothing to a file in force. */
export async function abandonPart(
  sql: Sql,
  { table, day, part }: ArchivedPart,
  error: string,
): Promise<void> {
  await sql`
    UPDATE archived_days SET state = 'abandoned', abandoned_at = clock_timestamp(), error = ${error}
    WHERE table_name = ${table} AND day = ${day}::date AND part = ${part} AND state IN ('writing', 'verified')`
}

/**
 * Replaces the files of a day that are in force with a new, verified file, in one statement. False if those
 * files have changed since, or if another archiver has abandoned the new file.
 */
export async function replaceParts(
  sql: Sql,
  { table, day, part }: ArchivedPart,
  file: VerifiedFile,
  former: readonly number[],
  why: string,
): Promise<boolean> {
  const [answer] = await sql<{ done: boolean }[]>`
    WITH former AS (
      SELECT array_agg(part ORDER BY part) AS parts FROM archived_days
      WHERE table_name = ${table} AND day = ${day}::date AND state = 'dropped'
    ), ours AS (
      UPDATE archived_days SET state = 'dropped', verified_at = clock_timestamp(), dropped_at = clock_timestamp(),
        location = ${file.location}, rows = ${file.rows}::bigint, sums = ${JSON.stringify(file.sums)}::jsonb,
        bytes = ${file.bytes}::bigint, sha256 = ${file.sha256}, first_at = ${file.firstAt}, last_at = ${file.lastAt}
      WHERE table_name = ${table} AND day = ${day}::date AND part = ${part} AND state = 'writing'
        AND (SELECT parts FROM former)::text = ${`{${former.join(',')}}`}
      RETURNING part
    ), theirs AS (
      UPDATE archived_days SET state = 'abandoned', abandoned_at = clock_timestamp(), error = ${why}
      WHERE table_name = ${table} AND day = ${day}::date AND state = 'dropped' AND EXISTS (SELECT FROM ours)
    )
    SELECT EXISTS (SELECT FROM ours) AS done`
  return answer?.done === true
}

/**
 * Abandons the files of a table's days that are past their retention, including a file that an archiver left
 * unfinished, because no later archiver will process its day.
 */
export async function expireDays(sql: Sql, table: string, keepDays: number): Promise<number> {
  const expired = await sql`
    UPDATE archived_days SET state = 'abandoned', abandoned_at = clock_timestamp(), error = 'its retention has ended'
    WHERE table_name = ${table} AND state IN ('writing', 'verified', 'dropped')
      AND day < (now() AT TIME ZONE 'UTC')::date - ${keepDays}::integer`
  return expired.count
}

/**
 * All abandoned files, oldest first, in pages. Their deletion is repeated for a week, because an archiver
 * that was paused may write a file after it was deleted.
 */
export async function* abandonedParts(sql: Sql): AsyncGenerator<(KnownPart & { location: string })[]> {
  let last: ArchivedPart = { day: '0001-01-01', table: '', part: -1 }
  for (;;) {
    const page = await sql<(KnownPart & { location: string })[]>`
      SELECT table_name AS table, day::text, part, state, location, sha256 FROM archived_days
      WHERE state = 'abandoned' AND location IS NOT NULL
        AND (day, table_name, part) > (${last.day}::text::date, ${last.table}, ${last.part}::integer)
      ORDER BY day, table_name, part LIMIT ${abandonedPage}`
    yield page
    if (page.length < abandonedPage) return
    last = page.at(-1) ?? last
  }
}

const abandonedPage = 1_000

export async function forgetAbandoned(sql: Sql): Promise<void> {
  await sql`
    DELETE FROM archived_days WHERE state = 'abandoned' AND abandoned_at < clock_timestamp() - interval '7 days'`
}

/**
 * The days of a table that are due, oldest first: those that have a partition or a begun file. Days past
 * their retention are excluded because retention drops their partitions.
 */
export async function daysDue(sql: Sql, table: string, hotDays: number, keepDays: number): Promise<string[]> {
  const days = await sql<{ day: string }[]>`
    SELECT day::text FROM (
      SELECT to_date(right(child, 8), 'YYYYMMDD') AS day FROM expired_partitions(${table}, ${hotDays}::integer) AS child
      UNION
      SELECT day FROM archived_days WHERE table_name = ${table} AND state IN ('writing', 'verified')
    ) AS due WHERE day >= (now() AT TIME ZONE 'UTC')::date - ${keepDays}::integer ORDER BY day`
  return days.map(({ day }) => day)
}
