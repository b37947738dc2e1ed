import type { Row } from './log-query.ts'

const mostRows = 1_000

/** Both newest first, as the rows came. */
export interface TailRows {
  shown: readonly Row[]
  waiting: readonly Row[]
}

export const noRows: TailRows = { shown: [], waiting: [] }

/**
 * One row more, or all that waits. A row that comes behind waiting ones waits too, or it would appear below
 * those that came before it.
 */
export function nextRows(
  { shown, waiting }: TailRows,
  step: { row: Row; isHeld: boolean } | 'release' | 'clear',
): TailRows {
  if (step === 'clear') return noRows
  if (step === 'release') return { shown: [...waiting, ...shown].slice(0, mostRows), waiting: [] }
  const { row, isHeld } = step
  const add = (rows: readonly Row[]) => [row, ...rows.filter(({ id }) => id !== row.id)].slice(0, mostRows)
  return isHeld || waiting.length > 0 ? { shown, waiting: add(waiting) } : { shown: add(shown), waiting }
}
