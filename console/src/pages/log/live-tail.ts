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
  /** Why no rows come, in words; undefined: they come. */
  trouble: string | undefined
  release(): void
}

/**
 * Follows `GET /admin/v1/requests/tail` with the filters of the page while `isOn`. The browser connects again
 * by itself and says where it was. `isHeld`: new rows wait, so that nothing moves under the reader.
 */
export function useLiveTail({ filters }: LogTerms, isOn: boolean, isHeld: boolean): LiveTail {
  const [{ shown, waiting }, step] = useReducer(nextRows, noRows)
  const [dropped, setDropped] = useState(0)
  const [trouble, setTrouble] = useState<string | undefined>(undefined)
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
    source.onopen = () => setTrouble(undefined)
    source.onerror = () =>
      setTrouble(
        source.readyState === EventSource.CLOSED
          ? 'The gateway refused the live rows. Switch Live off and on to try again.'
          : 'The gateway does not answer. The page connects again by itself.',
      )
    return () => source.close()
  }, [isOn, query])

  const release = useCallback(() => step('release'), [])
  // The user no longer looks at a row: what has waited comes.
  useEffect(() => {
    if (!isHeld) step('release')
  }, [isHeld])
  return { shown, waiting: waiting.length, dropped, trouble, release }
}
