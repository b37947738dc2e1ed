import { useEffect, useState } from 'react'
import type { Column, GridProps } from './grid-props.ts'
import { done } from './toast.tsx'
import { isTyping } from './typing.ts'

/** Where the reader is in a grid: the cell that `F` and `C` mean. */
export interface GridPlace {
  row: number | undefined
  column: number
  put(row: number): void
}

interface Options<Row> extends GridProps<Row> {
  /** The columns in sight, in their order. */
  shown: readonly Column<Row>[]
  scrollTo(index: number): void
  /** Gives the grid the keyboard, so that Enter is its own. */
  focus(): void
}

/** The keys of a grid. They work on the whole page, unless somebody types or a dialog is open. */
export function useGridKeys<Row>(options: Options<Row>): GridPlace {
  const { rows, idOf, openId, onOpen, onFilter, onTouch, selection, shown, scrollTo, focus } = options
  const [row, setRow] = useState<number | undefined>(undefined)
  // The columns can change under it: beside an open row there are fewer.
  const [columnId, setColumnId] = useState<string | undefined>(undefined)
  const column = Math.max(
    0,
    shown.findIndex(({ id }) => id === columnId),
  )
  useEffect(() => {
    const putColumn = (to: number) => setColumnId(shown[to]?.id ?? columnId)
    const go = (to: number) => {
      const next = Math.max(0, Math.min(to, rows.length - 1))
      const there = rows[next]
      if (there === undefined) return
      setRow(next)
      scrollTo(next)
      focus()
      onTouch?.(next === 0)
      if (openId !== undefined) onOpen?.(there)
    }
    const here = () => (openId === undefined ? row : (indexOf(rows, idOf, openId, row) ?? row))
    const withRow = (act: (there: Row) => void) => {
      const there = rows[here() ?? -1]
      if (there !== undefined) act(there)
    }
    const filter = (keeps: boolean) =>
      withRow((there) => {
        const id = shown[column]?.id
        if (id !== undefined) onFilter?.(id, there, keeps)
      })
    const keys = new Map<string, () => void>([
      ['j', () => go((here() ?? -1) + 1)],
      ['k', () => go((here() ?? 1) - 1)],
      ['ArrowDown', () => go((here() ?? -1) + 1)],
      ['ArrowUp', () => go((here() ?? 1) - 1)],
      ['ArrowRight', () => putColumn(column + 1)],
      ['ArrowLeft', () => putColumn(column - 1)],
      ['Home', () => go(0)],
      ['End', () => go(rows.length - 1)],
      ['PageDown', () => go((here() ?? 0) + pageRows)],
      ['PageUp', () => go((here() ?? 0) - pageRows)],
      ['Enter', () => withRow((there) => onOpen?.(there))],
      ...(selection === undefined
        ? []
        : (['x', ' '] as const).map((key) => [key, () => withRow(selection.toggle)] as const)),
      ['f', () => filter(true)],
      ['F', () => filter(false)],
      ['c', () => withRow((there) => copyId(idOf(there)))],
    ])
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector('[role=dialog][aria-modal=true], [role=menu]') !== null) return
      // A button, a link and what scrolls keep their own keys, but for those that nothing else has.
      const isOnGrid = event.target === document.body || isGrid(event.target)
      if (!isOnGrid && !/^[jkxfFc]$/.test(event.key)) return
      const act = keys.get(event.key)
      if (act === undefined) return
      event.preventDefault()
      act()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [
    rows,
    row,
    column,
    columnId,
    shown,
    openId,
    idOf,
    onOpen,
    onFilter,
    onTouch,
    selection,
    scrollTo,
    focus,
  ])
  return { row, column, put: setRow }
}

const pageRows = 20

function copyId(id: string): void {
  void navigator.clipboard.writeText(id)
  done(`Copied the id ${id}`)
}

function isGrid(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.getAttribute('role') === 'grid' || target.id === 'main')
}

/** Near the last place first: a list of 20,000 rows is not searched for each key. */
function indexOf<Row>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
  id: string,
  near: number | undefined,
): number | undefined {
  const at = near === undefined ? undefined : rows[near]
  if (at !== undefined && idOf(at) === id) return near
  const found = rows.findIndex((row) => idOf(row) === id)
  return found === -1 ? undefined : found
}
