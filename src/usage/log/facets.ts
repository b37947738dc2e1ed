import type { GroupSelect } from './slice.ts'
import { type Tallied, tally } from './tally.ts'
import { type AskLog, type Walk, walkGroups } from './walk.ts'

/** The columns whose values can be counted. */
export const facetColumns = [
  'requested_model',
  'tenant_id',
  'key_id',
  'channel',
  'status',
  'outcome',
  'error_reason',
] as const

export type FacetColumn = (typeof facetColumns)[number]

export interface FacetValue {
  /** Null: the requests without a value. */
  value: string | null
  requests: number
}

export interface Facets extends Tallied {
  /** The values of each column, most requests first. */
  values: Map<FacetColumn, FacetValue[]>
  /** The number of requests that were counted. */
  requests: number
  /** Columns of which rare values were not told apart. */
  cut: Set<FacetColumn>
}

/** Counts the matching requests by each of the columns, newest first, for at most `withinMs`. */
export async function countFacets(
  ask: AskLog,
  walk: Omit<Walk, 'rowsMax' | 'order' | 'endAt'>,
  { columns, withinMs }: { columns: readonly [FacetColumn, ...FacetColumn[]]; withinMs: number },
): Promise<Facets> {
  const counts = new Map(columns.map((column) => [column, new Map<string | null, number>()]))
  const cut = new Set<FacetColumn>()
  let requests = 0
  const reached = await tally<FacetRow>(
    walk,
    withinMs,
    (endAt) => walkGroups(ask, { ...walk, endAt }, facetSelect(columns)),
    (row) => {
      const column = columns[row.facet]
      const values = column === undefined ? undefined : counts.get(column)
      if (column === undefined || values === undefined) return
      const more = Number(row.requests)
      if (row.facet === 0) requests += more
      if (row.is_rest) cut.add(column)
      else values.set(row.value, (values.get(row.value) ?? 0) + more)
    },
  )
  const values = [...counts].map(([column, each]) => [column, sorted(each)] as const)
  return { ...reached, requests, cut, values: new Map(values) }
}

function sorted(values: ReadonlyMap<string | null, number>): FacetValue[] {
  return [...values]
    .map(([value, requests]) => ({ value, requests }))
    .sort((one, other) => other.requests - one.requests || compare(one.value, other.value))
}

function compare(one: string | null, other: string | null): number {
  return (one ?? '') < (other ?? '') ? -1 : 1
}

/** The requests of a slice with one value of one column. */
interface FacetRow {
  /** The index of the column. */
  facet: number
  value: string | null
  /** Whether it stands for all values after the first `valuesMax` of its column. */
  is_rest: boolean
  /** As decimal digits. */
  requests: string
}

/** Clients can ask for any number of models that do not exist. */
const valuesMax = 2_000

/** Selects a FacetRow for each value of each column, in one scan. */
function facetSelect(columns: readonly FacetColumn[]): GroupSelect {
  // Each grouping set has one of the columns, and the others are null in it.
  const facet = columns.map((column, at) => `WHEN grouping(${column}) = 0 THEN ${at}`).join(' ')
  const value = columns.map((column) => `CAST(${column} AS varchar)`).join(', ')
  const sets = columns.map((column) => `(${column})`).join(', ')
  return (table) => ({
    before: `SELECT facet, CASE WHEN place <= ${valuesMax} THEN value END AS value, place > ${valuesMax} AS is_rest,
        CAST(sum(requests) AS bigint) AS requests
      FROM (
        SELECT facet, value, requests, row_number() OVER (PARTITION BY facet ORDER BY requests DESC, value) AS place
        FROM (
          SELECT CASE ${facet} END AS facet, coalesce(${value}) AS value, sum(folded) AS requests
          FROM ${table} WHERE`,
    after: `GROUP BY GROUPING SETS (${sets})) AS grouped) AS ranked GROUP BY 1, 2, 3`,
  })
}
