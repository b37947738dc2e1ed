import type postgres from 'postgres'

/** Reset the counters of Postgres. */
export async function resetStatements(sql: postgres.Sql): Promise<void> {
  await sql`SELECT pg_stat_statements_reset()`
}

/**
 * The statements that took longest since the reset. Statements inside functions are indented, and the time of the calling
 * statement includes theirs. Time is Postgres's own time for planning and running. It does not include the commit, whose wait
 * for the disk shows in the last line.
 */
export async function topStatements(sql: postgres.Sql, jobs: number): Promise<string> {
  const rows = await sql<{ inner: boolean; calls: string; us: number; blocks: number; query: string }[]>`
    SELECT NOT toplevel AS inner, calls, (total_exec_time + total_plan_time) * 1000 AS us,
      (shared_blks_hit + shared_blks_read)::float8 / calls AS blocks,
      regexp_replace(query, '\\s+', ' ', 'g') AS query
    FROM pg_stat_statements WHERE calls > 0 AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND query NOT LIKE '%pg_stat_statements%'
    ORDER BY total_exec_time + total_plan_time DESC LIMIT ${statementsMax}`
  const [wal] = await sql<{ syncs: string; bytes: string }[]>`
    SELECT (SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal') AS syncs, wal_bytes AS bytes FROM pg_stat_wal`
  const lines = rows.map(
    ({ inner, calls, us, blocks, query }) =>
      `${(us / jobs).toFixed(0).padStart(9)} ${(Number(calls) / jobs).toFixed(2).padStart(10)} ` +
      `${(us / Number(calls)).toFixed(0).padStart(8)} ${blocks.toFixed(0).padStart(11)}  ${inner ? '  ' : ''}${query.slice(0, 150)}`,
  )
  return [
    '   us/job  calls/job  us/call  blocks/call',
    ...lines,
    `since the server's start: ${wal?.syncs} WAL syncs, ${Math.round(Number(wal?.bytes) / 1e6)} MB of WAL`,
  ].join('\n')
}

const statementsMax = 25
