import type postgres from 'postgres'

/** Ids of the groups that are public, in the order of their names. A catalog without the column has none. */
export async function publicGroups(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from key_groups g where (to_jsonb(g) ->> 'public')::boolean order by name`
  return rows.map(({ id }) => id)
}
