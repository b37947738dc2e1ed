import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import type { List } from '../api/list.ts'
import { count } from '../format/numbers.ts'
import { Grid } from './grid.tsx'
import type { GridProps } from './grid-props.ts'
import classes from './list-grid.module.css'
import { Problem } from './problem.tsx'

interface ListGridProps<Row> extends Omit<GridProps<Row>, 'rows' | 'onMore' | 'foot'> {
  list: List<Row>
  /** Where there is no row at all. */
  empty: ReactNode
  /** "keys": in "All 12 keys" and "1 key". */
  things: string
}

/** A list of the API as a grid: waiting, empty, failed, and more at its end. */
export function ListGrid<Row>({ list, empty, things, ...grid }: ListGridProps<Row>) {
  const { rows, isPending, isMoreComing, isWhole, error, more, again } = list
  if (rows.length === 0 && error !== null && error !== undefined)
    return <Problem error={error} onAgain={again} />
  if (isPending) return <WaitingRows />
  if (rows.length === 0) return <>{empty}</>
  return (
    <Grid
      {...grid}
      rows={rows}
      onMore={more}
      isWhole={isWhole}
      foot={
        error !== null && error !== undefined ? (
          <Problem error={error} onAgain={again} />
        ) : isMoreComing ? (
          'Reading more…'
        ) : isWhole ? (
          allOf(rows.length, things)
        ) : undefined
      }
    />
  )
}

/** At the end of a list that was read whole: "1 key", "All 12 keys". `things` is a plural. */
export function allOf(rows: number, things: string): string {
  return rows === 1 ? `1 ${singular(things)}` : `All ${count(rows)} ${things}`
}

function singular(things: string): string {
  return things.replace(/ies$/, 'y').replace(/s$/, '')
}

const lines = Array.from({ length: 12 }, (_, line) => `line ${line}`)

/** In the shape of a grid, after 150 ms. */
export function WaitingRows() {
  return (
    <div className={classes.waiting} role="status" aria-label="Loading">
      {lines.map((line) => (
        <Skeleton key={line} height={16} radius={4} />
      ))}
    </div>
  )
}
