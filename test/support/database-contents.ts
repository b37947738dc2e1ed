import type { Sql } from 'postgres'

/** What `pg_dump --schema-only` tells of a database, one line for each part. Partitions of days and months are left out. */
export async function catalogOf(sql: Sql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    WITH own AS (
      SELECT c.* FROM pg_class c
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relname !~ '_(20[0-9]{4}|20[0-9]{6})(_|$)'
    )
    SELECT concat_ws(' ', 'relation', c.relname, c.relkind, c.reloptions, pg_get_partkeydef(c.oid),
      CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) END) AS line FROM own c
    UNION ALL SELECT concat_ws(' ', 'column', c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
      a.attstorage, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
    FROM own c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND c.relkind <> 'i'
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    UNION ALL SELECT concat_ws(' ', 'partition', c.relname, p.relname, pg_get_expr(c.relpartbound, c.oid))
    FROM own c JOIN pg_inherits i ON i.inhrelid = c.oid JOIN own p ON p.oid = i.inhparent AND p.relkind = 'p'
    UNION ALL SELECT concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid), i.indisvalid)
    FROM own c JOIN pg_index i ON i.indexrelid = c.oid
    UNION ALL SELECT concat_ws(' ', 'constraint', c.relname, o.conname, pg_get_constraintdef(o.oid), o.convalidated)
    FROM own c JOIN pg_constraint o ON o.conrelid = c.oid
    UNION ALL SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(t.oid), t.tgenabled)
    FROM own c JOIN pg_trigger t ON t.tgrelid = c.oid AND NOT t.tgisinternal
    UNION ALL SELECT concat_ws(' ', 'function', pg_get_functiondef(p.oid))
    FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace
    UNION ALL SELECT concat_ws(' ', 'type', t.typname) FROM pg_type t
    WHERE t.typnamespace = current_schema()::regnamespace AND t.typtype NOT IN ('b', 'c')
    UNION ALL SELECT concat_ws(' ', 'note', d.objoid::regproc, split_part(d.description, ' ', 3))
    FROM pg_description d JOIN pg_proc p ON p.oid = d.objoid AND p.pronamespace = current_schema()::regnamespace
    ORDER BY 1`
  return rows.map(({ line }) => line)
}

/** All rows of a database, by table, as one hash each. */
export async function rowsOf(sql: Sql): Promise<Record<string, string | null>> {
  const tables = await sql<{ name: string }[]>`
    SELECT oid::regclass::text AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY 1`
  const hashes: Record<string, string | null> = {}
  for (const { name } of tables) {
    const [row] = await sql.unsafe<{ hash: string | null }[]>(
      `SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) AS hash FROM ${name} t`,
    )
    hashes[name] = row?.hash ?? null
  }
  return hashes
}
