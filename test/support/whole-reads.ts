import type postgres from 'postgres'

/**
 * How often a plan has read one of these tables from its beginning to its end, so far. `tables`: patterns of LIKE. The counts of a
 * session are known when it tells them: read with the session that did the work.
 */
export async function wholeReads(session: postgres.Sql, ...tables: string[]): Promise<number> {
  await session`SELECT pg_stat_force_next_flush()`
  const [row] = await session<{ reads: number }[]>`
    SELECT sum(seq_scan)::integer AS reads FROM pg_stat_user_tables WHERE relname LIKE ANY (${tables}::text[])`
  if (row === undefined || row.reads === null) throw new Error(`There is no table ${tables.join(', ')}.`)
  return row.reads
}
