import type postgres from 'postgres'
import { type AdminFilter, type Condition, idColumns, type LogRow, type NamedKind } from './filter.ts'

/**
 * The filter with the ids of all that has, or had, the names in it. Rows have ids alone. Where the filter is
 * bound to one tenant, names of others do not count: without that, many other keys of this name would hide
 * its own.
 */
export async function withIds(sql: postgres.Sql, filter: AdminFilter): Promise<AdminFilter> {
  const wanted = filter.conditions.flatMap((condition) =>
    condition.test === 'named'
      ? condition.names.flatMap((name) => (name === null ? [] : [{ kind: condition.kind, name }]))
      : [],
  )
  const found = wanted.length === 0 ? [] : await idsNamed(sql, wanted, tenantIn(filter))
  return {
    conditions: filter.conditions.map((condition): Condition => {
      if (condition.test !== 'named') return condition
      const { kind, names, not } = condition
      const ids = found.filter((each) => each.kind === kind && names.includes(each.name)).map(({ id }) => id)
      const values = names.includes(null) ? [...new Set(ids), null] : [...new Set(ids)]
      return { not, test: 'is', columns: [idColumns[kind]], values }
    }),
  }
}

interface Named {
  kind: NamedKind
  id: string
  name: string
}

/** The only tenant whose rows the filter lets through; null: it does not name one by its id. */
function tenantIn({ conditions }: AdminFilter): string | null {
  for (const condition of conditions) {
    if (condition.test !== 'is' || condition.not || condition.values.length !== 1) continue
    const [value] = condition.values
    if (condition.columns.length === 1 && condition.columns[0] === 'tenant_id' && typeof value === 'string')
      return value
  }
  return null
}

/** Each name is at most in one tenant, and then in each tenant once. */
const idsMax = 10_000

function idsNamed(
  sql: postgres.Sql,
  wanted: readonly { kind: NamedKind; name: string }[],
  tenantId: string | null,
): Promise<Named[]> {
  return sql<Named[]>`
    select n.kind, n.id, n.name
    from names n join unnest(${wanted.map(({ kind }) => kind)}::text[], ${wanted.map(({ name }) => name)}::text[]) as w (kind, name)
      on n.kind = w.kind and n.name = w.name
    where ${tenantId}::uuid is null or n.kind = 'group'
      or n.kind = 'tenant' and n.id = ${tenantId}::uuid
      or n.kind = 'key' and exists (select from keys k where k.id = n.id and k.tenant_id = ${tenantId}::uuid)
    order by n.since desc limit ${idsMax}`
}

/** The names that rows are shown under. */
export interface NamesOf {
  /** The name at that moment; null for an id that nothing ever had. */
  of(kind: NamedKind, id: string | null, at: Date): string | null
}

/** All names of what these rows belong to. */
export async function namesFor(sql: postgres.Sql, rows: readonly LogRow[]): Promise<NamesOf> {
  const ids = new Set(rows.flatMap((row) => [row.tenant_id, row.key_id, row.group_id]))
  ids.delete(null)
  const found =
    ids.size === 0
      ? []
      : await sql<{ kind: NamedKind; id: string; name: string; since: Date }[]>`
          select kind, id, name, since from names
          where kind in ('tenant', 'key', 'group') and id in ${sql([...ids])} and name is not null
          order by since`
  const names = Map.groupBy(found, ({ kind, id }) => `${kind} ${id}`)
  return {
    of(kind, id, at) {
      const all = names.get(`${kind} ${id}`) ?? []
      return (all.findLast(({ since }) => since <= at) ?? all[0])?.name ?? null
    },
  }
}
