import type { ReactNode } from 'react'
import type { ColumnChoice } from './column-choice.ts'
import type { Tone } from './tone.ts'

/** One column of a grid. */
export interface Column<Row> {
  id: string
  /** With the unit: "first token, ms" has none in its cells. */
  head: string
  /** What stands in the head instead of it. */
  headCell?: ReactNode
  /** The same in full, for screen readers and on hover. */
  about?: string
  /** In px; with `grows` the least. */
  width: number
  grows?: boolean
  /** `right`: numbers. */
  align?: 'right'
  /** `above`: the row before this one. */
  cell(row: Row, above: Row | undefined): ReactNode
  /** Not shown until the reader chooses it. */
  isExtra?: boolean
  /** Left out on a phone. */
  isWide?: boolean
  /** Its width beside an open row, in px. If any column has one, the others are left out there. */
  beside?: number
  /** What the rows can be filtered by; undefined: nothing. */
  value?(row: Row): string | undefined
  /** The name that the API sorts by. */
  sort?: string
}

/** The rows of a list that the reader has selected. */
export interface Selection<Row> {
  /** Those that are in the list now, in its order. */
  rows: readonly Row[]
  has(row: Row): boolean
  toggle(row: Row): void
  /** Keeps only these. */
  keep(rows: readonly Row[]): void
  /** The first column of the grid, with a box for each row and one for all. */
  column: Column<Row>
}

export interface GridProps<Row> {
  /** For screen readers: "Requests". */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  idOf(row: Row): string
  /** Which columns are shown, in which order; absent: those that are not extra. */
  choice?: ColumnChoice
  /** The row that is open beside the grid. */
  openId?: string | undefined
  onOpen?(row: Row): void
  /** Rows that the reader has selected, for what is done with several. `X` and Space select the row. */
  selection?: Selection<Row>
  /** A row that is an error or a warning. The cells must say it in words too. */
  toneOf?(row: Row): Tone | undefined
  /** Called when the end comes near. */
  onMore?(): void
  /** There is no row after the last one. */
  isWhole?: boolean
  /** As the API takes it: a minus before the name turns the order round. */
  sort?: string
  onSort?(sort: string): void
  /** `F` (keep) and `Shift+F` (leave out) on a cell, and the two buttons in it under the pointer. */
  onFilter?(column: string, row: Row, keeps: boolean): void
  /** The reader scrolls, or moves in the grid: a live grid must not move now. */
  onTouch?(isAtTop: boolean): void
  /** After the last row: "All 41,208 rows", a progress, an error. */
  foot?: ReactNode
}
