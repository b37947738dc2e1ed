import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import type { List } from '../api/list.ts'
import { count } from '../format/numbers.ts'
import { allOf, WaitingRows } from './list-grid.tsx'
import { Problem } from './problem.tsx'
import classes from './rows.module.css'

export interface RowsColumn<Row> {
  head: string
  align?: 'right'
  /** Its text is not broken over lines. */
  keeps?: boolean
  cell(row: Row): ReactNode
}

/** A short table inside a page. A long list is a `Grid`. */
export function Rows<Row>({
  label,
  columns,
  rows,
  idOf,
  none,
  foot,
}: {
  label: string
  columns: readonly RowsColumn<Row>[]
  rows: readonly Row[]
  idOf(row: Row): string
  /** Instead of the table where there is no row. */
  none: ReactNode
  foot?: ReactNode
}) {
  if (rows.length === 0) return <p className={classes.none}>{none}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable
    <section className={classes.scroll} tabIndex={0} aria-label={label}>
      <table className={classes.rows}>
        <thead>
          <tr>
            {columns.map(({ head, align }) => (
              <th key={head} scope="col" data-align={align}>
                {head === 'Actions' ? <span className="tg-heard">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={idOf(row)}>
              {columns.map(({ head, align, keeps, cell }) => (
                <td key={head} data-align={align} data-keep={keeps}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {foot === undefined ? null : <div className={classes.foot}>{foot}</div>}
    </section>
  )
}

/** The same for a list of the API, which is read page by page. `things`: "entries". */
export function ListRows<Row>({
  list,
  things,
  ...table
}: {
  list: List<Row>
  things: string
  label: string
  columns: readonly RowsColumn<Row>[]
  idOf(row: Row): string
  none: ReactNode
}) {
  const { rows, error, again, isPending, isMoreComing, isWhole, more } = list
  const hasFailed = error !== null && error !== undefined
  if (hasFailed && rows.length === 0) return <Problem error={error} onAgain={again} />
  if (isPending) return <WaitingRows />
  return (
    <Rows
      {...table}
      rows={rows}
      foot={
        hasFailed ? (
          <Problem error={error} onAgain={again} />
        ) : isWhole ? (
          allOf(rows.length, things)
        ) : (
          <>
            <span>
              {count(rows.length)} {things} so far
            </span>
            <Button variant="default" onClick={more} loading={isMoreComing}>
              Show more
            </Button>
          </>
        )
      }
    />
  )
}
