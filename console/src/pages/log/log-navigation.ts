import { useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import type { Texts } from '../../console-search.ts'
import type { RangeSearch } from '../../format/range.ts'
import { logColumns } from './log-columns.tsx'
import { filterField, withValue } from './log-filters.ts'
import { greatestOf, type Row } from './log-query.ts'

/**
 * The ways from one address of the log to another. The functions stay the same while it does: rows are drawn
 * by them.
 */
export function useLogNavigation(search: Texts, openId: string | undefined) {
  const navigate = useNavigate()
  const go = useCallback(
    (next: Texts) =>
      void navigate({
        to: openId === undefined ? '/console/log' : '/console/log/$id',
        params: { id: openId ?? '' },
        search: next,
      }),
    [navigate, openId],
  )
  const open = useCallback(
    (id: string) =>
      void navigate({
        to: '/console/log/$id',
        params: { id },
        search,
        // Walking through rows leaves one step to go back.
        replace: openId !== undefined,
        resetScroll: false,
      }),
    [navigate, search, openId],
  )
  const close = useCallback(
    () => void navigate({ to: '/console/log', search, resetScroll: false }),
    [navigate, search],
  )
  const openRow = useCallback((row: Row) => open(row.id), [open])
  const filter = useCallback(
    (column: string, row: Row, keeps: boolean) => {
      const value = logColumns.find(({ id }) => id === column)?.value?.(row)
      if (value !== undefined && filterField(column) !== undefined)
        go(withValue(search, { name: column, keeps }, value))
    },
    [go, search],
  )
  const order = (chosen: string) => {
    const { sort: _sort, ...rest } = search
    // A second click on the same head, or one on "Time", brings the newest first again.
    go(greatestOf({ sort: chosen }) === undefined ? rest : { ...rest, sort: chosen })
  }
  return { go, open, close, openRow, filter, order, ...useDraggedTimes(search, go) }
}

/** A time that is dragged in the histogram, and the way back to the times before. */
function useDraggedTimes(search: Texts, go: (next: Texts) => void) {
  const [dragged, setDragged] = useState<readonly Texts[]>([])
  const goTo = (range: RangeSearch) => {
    const { last: _last, from: _from, to: _to, ...rest } = search
    go({ ...rest, ...range })
  }
  const before = dragged.at(-1)
  return {
    drag(range: RangeSearch) {
      setDragged([...dragged, search])
      goTo(range)
    },
    chooseTime(range: RangeSearch) {
      setDragged([])
      goTo(range)
    },
    back:
      before === undefined
        ? undefined
        : () => {
            setDragged(dragged.slice(0, -1))
            go(before)
          },
  }
}
