import { useMediaQuery } from '@mantine/hooks'
import { ArrowDownIcon, ArrowUpIcon } from '@primer/octicons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useId, useMemo, useRef } from 'react'
import classes from './grid.module.css'
import { useGridKeys } from './grid-keys.ts'
import type { Column, GridProps } from './grid-props.ts'
import { cellId, GridRow } from './grid-row.tsx'

const rowHeight = 32
const headHeight = 34
const footHeight = 44
const rowsFromEnd = 30
/** So that three columns have room on a phone. */
const phoneWidthMax = 140

/**
 * Rows by the thousand, of which only those in sight are in the page. Keys: `J`/`K` and arrows move, `Enter`
 * opens, `Esc` leaves it to the page, `F`/`Shift+F` filter by the cell, `C` copies the id, `X` and Space
 * select.
 */
export function Grid<Row>(props: GridProps<Row>) {
  const { label, rows, idOf, openId, onOpen, onMore, isWhole, onTouch, toneOf, onFilter } = props
  const { sort, onSort, foot, selection } = props
  const scroller = useRef<HTMLDivElement>(null)
  const grid = useRef<HTMLDivElement>(null)
  const prefix = useId()
  const shown = useShownColumns(props)
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
    focus: () => grid.current?.focus({ preventScroll: true }),
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
    // As high as its rows, at most as high as its place. The foot is no row, and so not in the grid.
    <div
      ref={scroller}
      className={classes.scroller}
      style={{ flexBasis: virtual.getTotalSize() + headHeight + (foot === undefined ? 0 : footHeight) }}
      onScroll={(event) => onTouch?.(event.currentTarget.scrollTop < rowHeight)}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: a table element cannot hold rows that are placed by hand */}
      <div
        role="grid"
        aria-label={label}
        aria-rowcount={isWhole === true ? rows.length + 1 : -1}
        aria-multiselectable={selection !== undefined || undefined}
        aria-activedescendant={place.row === undefined ? undefined : cellId(prefix, place.row, place.column)}
        tabIndex={0}
        ref={grid}
        className={classes.grid}
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
                isSelected={selection?.has(row) ?? id === openId}
                placedColumn={place.row === index ? place.column : undefined}
                tone={toneOf?.(row)}
                onPick={onPick}
                opens={onOpen !== undefined}
                onFilter={onFilter}
              />
            )
          })}
        </div>
      </div>
      {foot === undefined ? null : <div className={classes.foot}>{foot}</div>}
    </div>
  )
}

/**
 * The columns that the reader chose, in that order, without those that a phone has no room for. Beside an
 * open row, those that are made for it.
 */
function useShownColumns<Row>({
  columns,
  choice,
  openId,
  selection,
}: GridProps<Row>): readonly Column<Row>[] {
  const isBeside = openId !== undefined
  const isPhone = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false })
  return useMemo(() => {
    const beside = isBeside
      ? columns.flatMap((column) =>
          column.beside === undefined ? [] : [{ ...column, width: column.beside }],
        )
      : []
    if (beside.length > 0) return beside
    const chosen =
      choice?.shown?.flatMap((id) => columns.find((column) => column.id === id) ?? []) ??
      columns.filter(({ isExtra }) => isExtra !== true)
    const fitting =
      isPhone === true
        ? chosen.flatMap((column) =>
            column.isWide === true ? [] : [{ ...column, width: Math.min(column.width, phoneWidthMax) }],
          )
        : chosen
    return selection === undefined ? fitting : [selection.column, ...fitting]
  }, [columns, choice?.shown, isPhone, isBeside, selection])
}

function Head<Row>({
  column: { id, head, headCell = head, about, align, sort: name },
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
        headCell
      ) : (
        <button type="button" onClick={() => onSort(isBy && isDown ? name : `-${name}`)}>
          {head} {isBy ? isDown ? <ArrowDownIcon size={12} /> : <ArrowUpIcon size={12} /> : null}
        </button>
      )}
    </div>
  )
}
