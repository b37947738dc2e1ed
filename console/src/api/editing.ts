import { type FetchQueryOptions, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type IfMatch, ifMatch, isChangedMeanwhile, type Tagged } from './tagged.ts'

/** A resource while somebody changes it in a form or a dialog. */
export interface Editing<Data> {
  /**
   * What the change is made against: as it was read when the form was opened, or what stood after a conflict.
   */
  base: Data
  /** The current state, where someone else was quicker. */
  now: Data | undefined
  /**
   * Runs a change under the ETag of `base`, or of `now` if `isAgain`. Where it is refused with a 412, `now`
   * is read. Rejects with the error of `run`, or of the reading: a 404 says that somebody else has deleted
   * it.
   */
  change<Result>(run: (header: IfMatch) => Promise<Result>, isAgain?: boolean): Promise<Result>
  /** The next change is made against the current state. */
  goOn(): void
}

/**
 * All forms and dialogs that change a resource begin here. A page may read the resource anew in the
 * background: while `isTouched`, the form keeps what its user has seen, with that ETag. Default: from its
 * first render on.
 */
export function useEditing<Data>(
  newest: Tagged<Data>,
  read: () => Promise<Tagged<Data>>,
  isTouched = true,
): Editing<Data> {
  const [base, setBase] = useState(newest)
  const [now, setNow] = useState<Tagged<Data>>()
  const isBehind = base.etag !== newest.etag || base.data !== newest.data
  if (!isTouched && (isBehind || now !== undefined)) {
    setBase(newest)
    setNow(undefined)
  }
  const goOn = () => {
    if (now === undefined) return
    setBase(now)
    setNow(undefined)
  }
  return {
    base: base.data,
    now: now?.data,
    goOn,
    async change(run, isAgain = false) {
      const from = isAgain ? (now ?? base) : base
      if (isAgain) goOn()
      try {
        return await run(ifMatch(from.etag))
      } catch (error) {
        if (isChangedMeanwhile(error)) setNow(await read())
        throw error
      }
    },
  }
}

/** The same for what `query` reads. */
export function useEditingOf<Data, Key extends QueryKey>(
  query: FetchQueryOptions<Tagged<Data>, Error, Tagged<Data>, Key>,
  newest: Tagged<Data>,
  isTouched = true,
): Editing<Data> {
  const queries = useQueryClient()
  return useEditing(newest, () => queries.fetchQuery({ ...query, staleTime: 0 }), isTouched)
}
