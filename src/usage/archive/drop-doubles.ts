import type { Archiver } from './archive-day.ts'
import { localParts, parquetTable, removeCopies } from './local-parts.ts'
import { duckValues, typesOf } from './parameters.ts'

const pageRows = 10_000

/**
 * Deletes the rows of a day from Postgres that are already in the archive, with their attempts and tags.
 * Normally the partition's primary key rejects such rows, but it was dropped with the day. They come from a
 * journal that was unavailable for longer than HOT_DAYS, or from one that Postgres no longer knows. The same
 * statement corrects the sums. Returns the number of rows.
 */
export async function dropDoubles(archiver: Archiver, day: string): Promise<number> {
  const { sql, duck, connection } = archiver
  const partition = `requests_${day.replaceAll('-', '')}`
  const [there] = await sql<
    { partition: string | null }[]
  >`SELECT to_regclass(${partition})::text AS partition`
  if ((there?.partition ?? null) === null) return 0
  const archived = await localParts(archiver, 'requests', day)
  try {
    if (archived.paths.length === 0) return 0
    let doubles = 0
    let last = '00000000-0000-0000-0000-000000000000'
    for (;;) {
      const rows = await sql<{ id: string }[]>`
        SELECT id FROM ${sql(partition)} WHERE id > ${last} ORDER BY id LIMIT ${pageRows}`
      const parameters = [rows.map(({ id }) => id)]
      const found = await connection.runAndReadAll(
        `SELECT DISTINCT id FROM ${parquetTable(archived.paths)} WHERE id IN (SELECT unnest(?))`,
        duckValues(duck, parameters),
        typesOf(duck, parameters),
      )
      const ids = found.getRowsJS().map(([id]) => String(id))
      if (ids.length > 0) await deleteRows(archiver, day, ids)
      doubles += ids.length
      if (rows.length < pageRows) return doubles
      last = rows.at(-1)?.id ?? last
    }
  } finally {
    await removeCopies(archived)
  }
}

async function deleteRows({ sql }: Archiver, day: string, ids: readonly string[]): Promise<void> {
  const ofDay = sql`created_at >= ${day}::text::timestamp AT TIME ZONE 'UTC'
    AND created_at < (${day}::text::timestamp + interval '1 day') AT TIME ZONE 'UTC'`
  await sql`
    WITH double AS (SELECT unnest(${[...ids]}::uuid[]) AS id),
    tags AS (DELETE FROM request_tags WHERE request_id IN (SELECT id FROM double) AND ${ofDay}),
    tried AS (DELETE FROM attempts WHERE request_id IN (SELECT id FROM double) AND ${ofDay})
    DELETE FROM requests WHERE id IN (SELECT id FROM double) AND ${ofDay}`
}
