import { useCallback, useEffect, useReducer, useRef, useState } from 'react'
import { stringifySearch } from '../../console-search.ts'
import type { LogTerms, Row } from './log-query.ts'
import { nextRows, noRows } from './tail-rows.ts'

/** The newest rows that came since the page was opened, newest first. */
export interface LiveTail {
  /** Shown above the list. */
  shown: readonly Row[]
  /** Came while the reader looked at something: shown by `release`. */
  waiting: number
  /** Rows that were too many to be sent. */
  dropped: number
  /** Why no rows come; undefined: they come. */
  trouble: { title: string; detail: string } | undefined
  /** Goes up with each batch of rows that came. */
  batches: number
  release(): void
}

/**
 * Follows `GET /admin/v1/requests/tail` with the filters of the page while `isOn`. The browser connects again
 * by itself and says where it was. `isHeld`: new rows wait, so that nothing moves under the reader.
 */
export function useLiveTail({ filters }: LogTerms, isOn: boolean, isHeld: boolean): LiveTail {
  const [{ shown, waiting }, step] = useReducer(nextRows, noRows)
  const [dropped, setDropped] = useState(0)
  const [trouble, setTrouble] = useState<LiveTail['trouble']>(undefined)
  const [batches, countBatch] = useReducer((before: number) => before + 1, 0)
  const held = useRef(isHeld)
  held.current = isHeld
  const query = stringifySearch(filters)

  useEffect(() => {
    step('clear')
    setDropped(0)
    setTrouble(undefined)
    if (!isOn) return
    const source = new EventSource(`/admin/v1/requests/tail${query}`)
    const onRow = ({ data }: MessageEvent<string>) =>
      step({ row: JSON.parse(data) as Row, isHeld: held.current })
    source.addEventListener('row', onRow)
    source.addEventListener('dropped', ({ data }: MessageEvent<string>) =>
      setDropped((before) => before + (JSON.parse(data) as { dropped: number }).dropped),
    )
    source.addEventListener('place', countBatch)
    const onBack = () => setTrouble(undefined)
    source.addEventListener('away', () => setTrouble(troubles.away))
    source.addEventListener('back', onBack)
    source.onopen = onBack
    source.onerror = () =>
      setTrouble(source.readyState === EventSource.CLOSED ? troubles.refused : troubles.silent)
    return () => source.close()
  }, [isOn, query])

  const release = useCallback(() => step('release'), [])
  // The user no longer looks at a row: what has waited comes.
  useEffect(() => {
    if (!isHeld) step('release')
  }, [isHeld])
  return { shown, waiting: waiting.length, dropped, trouble, batches, release }
}

const troubles = {
  away: {
    title: 'No rows come now',
    detail:
      'The database of the gateway does not answer. Rows that are written meanwhile follow by themselves when it does.',
  },
  silent: {
    title: 'No rows come now',
    detail: 'The gateway does not answer. The page connects again by itself.',
  },
  refused: {
    title: 'The live rows are refused',
    detail: 'Switch Live off and on to try again.',
  },
}
