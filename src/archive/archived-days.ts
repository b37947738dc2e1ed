import type { Sql } from 'postgres'
import type { FileFacts } from './sums.ts'

/** A file of the archive, and what is known of it. */
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

/** The days whose rows only the archive has, the oldest first. Both ends are included. */
export async function daysInForce(sql: Sql, from: string, to: string): Promise<string[]> {
  const days = await sql<{ day: string }[]>`
    SELECT DISTINCT day::text FROM archived_days
    WHERE state = 'dropped' AND day BETWEEN ${from}::date AND ${to}::date ORDER BY day`
  return days.map(({ day }) => day)
}

/** The files of these days that an archiver has begun and not brought into force. Both ends are included. */
export async function begunParts(sql: Sql, from: string, to: string): Promise<KnownPart[]> {
  return await sql<KnownPart[]>`
    SELECT table_name AS table, day::text, part, state, location, sha256 FROM archived_days
    WHERE state IN ('writing', 'verified') AND day BETWEEN ${from}::date AND ${to}::date ORDER BY day, table_name, part`
}

/** The files of a day of a table, the oldest first. */
export async function partsOfDay(sql: Sql, table: string, day: string): Promise<KnownPart[]> {
  return await sql<KnownPart[]>`
    SELECT table_name AS table, day::text, part, state, location, sha256 FROM archived_days
    WHERE table_name = ${table} AND day = ${day}::date ORDER BY part`
}

/** Note a new file before it is written. Its number is one that no other attempt has had. */
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
  // If another archiver has taken the number, the primary key refuses this row.
  await sql`
    INSERT INTO archived_days (day, table_name, part, state, location, started_at)
    VALUES (${day}::date, ${table}, ${part}, 'writing', ${location}, clock_timestamp())`
  return { table, day, part, location }
}

export interface VerifiedFile extends FileFacts {
  /** Null: the day has no rows, so it has no file. */
  location: string | null
  bytes: number
  sha256: string | null
}

/** False: another archiver has abandoned it meanwhile. */
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

/** Abandon a file: it is not read from now on, and a pass deletes it. Does nothing for a file in force. */
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
 * Put a file that was written and verified in the place of those of its day that are in force, in one
 * statement. False: they have changed since, or another archiver has abandoned the file.
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
 * The days of a table whose rows the archive must not keep any longer. Their files are abandoned, also one
 * that an archiver left unfinished, because no later archiver works on its day.
 */
export async function expireDays(sql: Sql, table: string, keepDays: number): Promise<number> {
  const expired = await sql`
    UPDATE archived_days SET state = 'abandoned', abandoned_at = clock_timestamp(), error = 'its time is over'
    WHERE table_name = ${table} AND state IN ('writing', 'verified', 'dropped')
      AND day < (now() AT TIME ZONE 'UTC')::date - ${keepDays}::integer`
  return expired.count
}

/**
 * All abandoned files, the oldest first, in pages. Their deletion is repeated for a week, because an archiver
 * that was stopped may write a file after it was deleted.
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
 * The days of a table that are due: with a partition of their own, or with a file that was begun. The oldest
 * first. Days that the archive must not keep are not due: retention drops their partitions.
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
