import type { Column } from './grid-props.ts'

/** A column by which the page itself sorts: it has all rows. */
export interface SortedColumn<Row> extends Column<Row> {
  /** What the rows are sorted by where `sort` names the column. Rows without it are last, in both orders. */
  by?(row: Row): string | number | undefined
}

/**
 * `sort`: as the API has it, with a minus for the highest first. A name that no column has changes nothing.
 */
export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly SortedColumn<Row>[],
  sort: string,
): readonly Row[] {
  const of = columns.find((column) => column.sort === sort.replace('-', ''))?.by
  if (of === undefined) return rows
  const way = sort.startsWith('-') ? -1 : 1
  return rows.toSorted((a, b) => {
    const [left, right] = [of(a), of(b)]
    if (left === right) return 0
    if (left === undefined) return 1
    if (right === undefined) return -1
    if (typeof left === 'string' && typeof right === 'string') return way * (left < right ? -1 : 1)
    return way * (Number(left) - Number(right))
  })
}
