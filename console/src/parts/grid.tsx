import { useMediaQuery } from '@mantine/hooks'
import { ArrowDownIcon, ArrowUpIcon } from '@primer/octicons-react'
import {
  columnOrderingFeature,
  columnVisibilityFeature,
  createColumnHelper,
  type RowData,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useCallback, useEffect, useId, useMemo, useRef } from 'react'
import type { ColumnChoice } from './column-choice.ts'
import classes from './grid.module.css'
import { useGridKeys } from './grid-keys.ts'
import { cellId, GridRow } from './grid-row.tsx'
import type { Tone } from './tone.ts'

/** One column of a grid. */
export interface Column<Row> {
  id: string
  /** With the unit: "first token, ms" has none in its cells. */
  head: string
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
  /** What the rows can be filtered by; undefined: nothing. */
  value?(row: Row): string | undefined
  /** The name that the API sorts by. */
  sort?: string
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
  /** A row that is an error or a warning. The cells must say it in words too. */
  toneOf?(row: Row): Tone | undefined
  /** Called when the end comes near. */
  onMore?(): void
  /** As the API takes it: a minus before the name turns the order round. */
  sort?: string
  onSort?(sort: string): void
  /** `F` (keep) and `Shift+F` (leave out) on a cell, and the two buttons in it under the pointer. */
  onFilter?(column: string, row: Row, keeps: boolean): void
  /** The reader scrolls, or moves in the grid: a live grid must not move now. */
  onTouch?(isAtTop: boolean): void
  /** Behind the last row: "All 41,208 rows", a progress, an error. */
  foot?: ReactNode
}

const rowHeight = 32
const headHeight = 34
const footHeight = 44
const rowsFromEnd = 30

const features = tableFeatures({ columnVisibilityFeature, columnOrderingFeature })

/**
 * Rows by the thousand, of which only those in sight are in the page. Keys: `J`/`K` and arrows move, `Enter` opens, `Esc`
 * leaves it to the page, `F`/`Shift+F` filter by the cell, `C` copies the id.
 */
export function Grid<Row extends RowData>(props: GridProps<Row>) {
  const {
    label,
    columns,
    rows,
    idOf,
    choice,
    openId,
    onOpen,
    onMore,
    onTouch,
    toneOf,
    onFilter,
    sort,
    onSort,
    foot,
  } = props
  const scroller = useRef<HTMLDivElement>(null)
  const prefix = useId()
  const isPhone = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false })
  const helper = useMemo(() => createColumnHelper<typeof features, Row>(), [])
  const definitions = useMemo(
    () => helper.columns(columns.map(({ id, head }) => helper.display({ id, header: head }))),
    [columns, helper],
  )
  const data = useMemo(() => [...rows], [rows])
  const visibility = useMemo(
    () =>
      Object.fromEntries(
        columns.map(({ id, isExtra, isWide }) => [
          id,
          (choice?.shown === undefined ? isExtra !== true : choice.shown.includes(id)) &&
            !(isPhone && isWide === true),
        ]),
      ),
    [columns, choice?.shown, isPhone],
  )
  const table = useTable({
    features,
    columns: definitions,
    data,
    getRowId: idOf,
    state: {
      columnVisibility: visibility,
      columnOrder: choice?.shown === undefined ? [] : [...choice.shown],
    },
  })
  const byId = useMemo(() => new Map(columns.map((column) => [column.id, column])), [columns])
  const shown = table.getVisibleLeafColumns().flatMap(({ id }) => byId.get(id) ?? [])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  const items = virtual.getVirtualItems()
  const lastShown = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (rows.length > 0 && lastShown >= rows.length - rowsFromEnd) onMore?.()
  }, [lastShown, rows.length, onMore])

  const place = useGridKeys({
    ...props,
    shown,
    scrollTo: (index) => virtual.scrollToIndex(index),
    focus: () => scroller.current?.focus({ preventScroll: true }),
  })
  const template = shown
    .map(({ width, grows }) => (grows === true ? `minmax(${width}px, 1fr)` : `${width}px`))
    .join(' ')
  const least = shown.reduce((sum, { width }) => sum + width, 0)
  const { put } = place
  const onPick = useCallback(
    (row: Row, index: number) => {
      put(index)
      onOpen?.(row)
    },
    [put, onOpen],
  )
  return (
    // As high as its rows, at most as high as its place.
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot hold rows that are placed by hand
    <div
      role="grid"
      aria-label={label}
      aria-rowcount={-1}
      aria-activedescendant={place.row === undefined ? undefined : cellId(prefix, place.row, place.column)}
      tabIndex={0}
      ref={scroller}
      className={classes.grid}
      style={{ flexBasis: virtual.getTotalSize() + headHeight + (foot === undefined ? 0 : footHeight) }}
      onScroll={(event) => onTouch?.(event.currentTarget.scrollTop < rowHeight)}
    >
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus */}
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div role="row" className={classes.head} style={{ gridTemplateColumns: template, minWidth: least }}>
        {shown.map((column) => (
          <Head key={column.id} column={column} sort={sort} onSort={onSort} />
        ))}
      </div>
      <div
        className={classes.body}
        role="presentation"
        style={{ height: virtual.getTotalSize(), minWidth: least }}
      >
        {items.map(({ index, start }) => {
          const row = rows[index]
          if (row === undefined) return null
          const id = idOf(row)
          return (
            <GridRow
              key={id}
              row={row}
              above={rows[index - 1]}
              index={index}
              start={start}
              columns={shown}
              template={template}
              cellPrefix={prefix}
              isOpen={id === openId}
              placedColumn={place.row === index ? place.column : undefined}
              tone={toneOf?.(row)}
              onPick={onPick}
              opens={onOpen !== undefined}
              onFilter={onFilter}
            />
          )
        })}
      </div>
      {foot === undefined ? null : <div className={classes.foot}>{foot}</div>}
    </div>
  )
}

function Head<Row>({
  column: { id, head, about, align, sort: name },
  sort,
  onSort,
}: {
  column: Column<Row>
  sort: string | undefined
  onSort: ((sort: string) => void) | undefined
}) {
  const isBy = name !== undefined && sort?.replace('-', '') === name
  const isDown = sort?.startsWith('-') === true
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its button has the focus
    // biome-ignore lint/a11y/useSemanticElements: see above
    <div
      role="columnheader"
      aria-sort={isBy ? (isDown ? 'descending' : 'ascending') : undefined}
      data-align={align}
      data-column={id}
      className={classes.headCell}
      title={about ?? head}
    >
      {name === undefined || onSort === undefined ? (
        head
      ) : (
        <button type="button" onClick={() => onSort(isBy && isDown ? name : `-${name}`)}>
          {head} {isBy ? isDown ? <ArrowDownIcon size={12} /> : <ArrowUpIcon size={12} /> : null}
        </button>
      )}
    </div>
  )
}
