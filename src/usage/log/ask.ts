import type { Database } from '../../db/database.ts'
import type { Terms } from '../../db/pool.ts'
import { SliceTooLong } from './older-days.ts'
import type { AskLog } from './walk.ts'

/**
 * Runs the queries of one admin. The time limit of a slice starts with its statement, not while it waits for
 * its turn.
 */
export function askLogFor({ log }: Pick<Database, 'log'>, owner: string, terms: Terms = {}): AskLog {
  return async (query, { withinMs, signal }) => {
    const tooLong = new AbortController()
    let timer: NodeJS.Timeout | undefined
    try {
      return await log.ask(
        ({ sql }) => {
          timer = setTimeout(() => tooLong.abort(new SliceTooLong('usage_log_late', { withinMs })), withinMs)
          return query(sql)
        },
        {
          ...terms,
          owner,
          signal: signal === undefined ? tooLong.signal : AbortSignal.any([signal, tooLong.signal]),
        },
      )
    } finally {
      clearTimeout(timer)
    }
  }
}
