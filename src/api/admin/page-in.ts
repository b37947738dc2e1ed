import { orderOf, pageOf, placeAt } from './list.ts'

/**
 * Returns a page of rows that are in memory, sorted by a value and then by name or id. For lists that a
 * process holds completely anyway.
 */
export function pageIn<Row>(
  rows: readonly Row[],
  { limit, sort, cursor }: { limit: number; sort: string; cursor?: string | undefined },
  keyOf: (row: Row, by: string) => string | number | null,
  idOf: (row: Row) => string = (row) => String(keyOf(row, 'name')),
): { data: Row[]; next_cursor: string | null } {
  const { by, descending } = orderOf(sort)
  const after = placeAt(sort, cursor)
  const placed = rows.map((row) => ({ row, value: keyOf(row, by), id: idOf(row) }))
  const compare = (a: Place, b: Place) => {
    const order = compareValues(a.value, b.value) || compareValues(a.id, b.id)
    return descending ? -order : order
  }
  const sorted = placed.toSorted(compare)
  const from = after === undefined ? sorted : sorted.filter((one) => compare(one, after) > 0)
  const page = pageOf(from.slice(0, limit + 1), { limit, sort }, ({ value, id }) => ({ value, id }))
  return { data: page.data.map(({ row }) => row), next_cursor: page.next_cursor }
}

/** Whether a name contains `part`, ignoring case. Every name matches if `part` is undefined. */
export function hasPart(name: string, part: string | undefined): boolean {
  return part === undefined || name.toLowerCase().includes(part.toLowerCase())
}

interface Place {
  value: string | number | null
  id: string
}

function compareValues(a: Place['value'], b: Place['value']): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  return a < b ? -1 : 1
}
