import type postgres from 'postgres'
import { arrayText } from '../../db/array-types.ts'
import type { Condition, LogFilter, LogRow, NamedKind } from './row-tests.ts'

/**
 * Replaces the names in a filter with the ids of everything that has, or had, these names, because rows
 * contain only ids. If the filter is restricted to one tenant, names of other tenants are ignored; otherwise
 * many foreign keys with the same name could crowd out the tenant's own.
 */
export async function withIds(sql: postgres.Sql, filter: LogFilter): Promise<LogFilter> {
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
      return { not, test: 'is', columns: [`${kind}_id`], values }
    }),
  }
}

interface Named {
  kind: NamedKind
  id: string
  name: string
}

/** The only tenant whose rows can pass the filter; null if the filter does not name one by id. */
function tenantIn({ conditions }: LogFilter): string | null {
  for (const condition of conditions) {
    if (condition.test !== 'is' || condition.not || condition.values.length !== 1) continue
    const [value] = condition.values
    if (condition.columns.length === 1 && condition.columns[0] === 'tenant_id' && typeof value === 'string')
      return value
  }
  return null
}

/** A name can be used once in each tenant, so the number of ids is limited. */
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

/** The names under which rows are shown. */
export interface NamesOf {
  /** The name at that time; null for an id that nothing has ever had. */
  of(kind: NamedKind, id: string | null, at: Date): string | null
}

/** All names of the tenants, keys and groups of these rows, or of other things that have these ids. */
export async function namesFor(
  sql: postgres.Sql,
  rows: readonly Pick<LogRow, 'tenant_id' | 'key_id' | 'group_id'>[],
): Promise<NamesOf> {
  const ids = new Set(rows.flatMap((row) => [row.tenant_id, row.key_id, row.group_id]))
  ids.delete(null)
  const found =
    ids.size === 0
      ? []
      : await sql<{ kind: NamedKind; id: string; name: string; since: Date }[]>`
          select kind, id, name, since from names
          where kind in ('tenant', 'key', 'group') and id = any(${arrayText([...ids])}::uuid[]) and name is not null
          order by since`
  const names = Map.groupBy(found, ({ kind, id }) => `${kind} ${id}`)
  return {
    of(kind, id, at) {
      const all = names.get(`${kind} ${id}`) ?? []
      return (all.findLast(({ since }) => since <= at) ?? all[0])?.name ?? null
    },
  }
}

/** The latest names of tenants, keys or groups, by id. */
export async function currentNames(sql: postgres.Sql, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; name: string }[]>`
    select distinct on (id) id, name from names
    where kind in ('tenant', 'key', 'group') and id = any(${arrayText([...ids])}::uuid[]) and name is not null
    order by id, since desc`
  return new Map(rows.map(({ id, name }) => [id, name]))
}
