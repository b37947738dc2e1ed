import { ActionIcon, Tooltip } from '@mantine/core'
import { DiffRemovedIcon, FilterIcon } from '@primer/octicons-react'
import { memo, useState } from 'react'
import classes from './grid.module.css'
import type { Column } from './grid-props.ts'
import type { Tone } from './tone.ts'

interface GridRowProps<Row> {
  row: Row
  above: Row | undefined
  index: number
  /** In px from the top of the body. */
  start: number
  columns: readonly Column<Row>[]
  /** Of the columns, for CSS. */
  template: string
  cellPrefix: string
  isOpen: boolean
  isSelected: boolean
  /** The column where the reader is, if this is the row. */
  placedColumn: number | undefined
  tone: Tone | undefined
  opens: boolean
  onPick(row: Row, index: number): void
  onFilter: ((column: string, row: Row, keeps: boolean) => void) | undefined
}

export function cellId(prefix: string, row: number, column: number): string {
  return `${prefix}-${row}-${column}`
}

function GridRowOf<Row>(props: GridRowProps<Row>) {
  const { row, above, index, start, columns, template, cellPrefix, isOpen, placedColumn, tone, opens } = props
  const [hovered, setHovered] = useState<string | undefined>(undefined)
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot hold rows that are placed by hand
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter opens it
    // biome-ignore lint/a11y/useKeyWithMouseEvents: the keys F and Shift+F do the same
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={props.isSelected}
      data-selected={props.isSelected || undefined}
      data-open={isOpen || undefined}
      data-place={placedColumn !== undefined || undefined}
      data-tone={tone}
      data-opens={opens || undefined}
      className={classes.row}
      style={{ gridTemplateColumns: template, transform: `translateY(${start}px)` }}
      onMouseOver={({ target }) =>
        setHovered(
          target instanceof Element
            ? target.closest<HTMLElement>('[data-column]')?.dataset.column
            : undefined,
        )
      }
      onMouseLeave={() => setHovered(undefined)}
      onClick={({ target }) => {
        if (!isOwnClick(target)) props.onPick(row, index)
      }}
    >
      {columns.map((column, at) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
        // biome-ignore lint/a11y/useSemanticElements: see above
        <div
          key={column.id}
          id={cellId(cellPrefix, index, at)}
          role="gridcell"
          data-column={column.id}
          data-align={column.align}
          data-cell={placedColumn === at || undefined}
          className={classes.cell}
        >
          {column.cell(row, above)}
          {hovered === column.id ? <CellFilter {...props} column={column} /> : null}
        </div>
      ))}
    </div>
  )
}

/** Drawn anew only when something of it changes: scrolling moves rows, and leaves them as they are. */
export const GridRow = memo(GridRowOf) as typeof GridRowOf

/** The two buttons in a cell under the pointer. The keys `F` and `Shift+F` do the same. */
function CellFilter<Row>({ row, column, onFilter }: GridRowProps<Row> & { column: Column<Row> }) {
  const value = onFilter === undefined ? undefined : column.value?.(row)
  if (value === undefined) return null
  return (
    <span className={classes.filters} aria-hidden="true">
      <Tooltip label={`Keep only ${value} (F)`}>
        <ActionIcon size={20} tabIndex={-1} onClick={() => onFilter?.(column.id, row, true)}>
          <FilterIcon size={12} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={`Leave out ${value} (Shift+F)`}>
        <ActionIcon size={20} tabIndex={-1} onClick={() => onFilter?.(column.id, row, false)}>
          <DiffRemovedIcon size={12} />
        </ActionIcon>
      </Tooltip>
    </span>
  )
}

/** A link or a button in a cell does what it says, and opens no row. Selected text stays selected. */
function isOwnClick(target: EventTarget): boolean {
  if (target instanceof Element && target.closest('a, button, input, label') !== null) return true
  return (window.getSelection()?.toString() ?? '') !== ''
}
