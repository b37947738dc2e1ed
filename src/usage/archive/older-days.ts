import { GatewayError, gatewayError } from '../../canonical/error.ts'
import { firstIdAt } from '../../db/first-id.ts'
import {
  type OlderDays,
  OlderDaysError,
  type OlderTerms,
  OlderTooLong,
  SliceTooLong,
} from '../log/older-days.ts'
import type { LogFilter } from '../log/row-tests.ts'
import type { Slice } from '../log/slice.ts'
import type { Archive } from './archive.ts'
import { rowsMatching } from './conditions.ts'
import { ListAgainError, listAgainMax } from './list-again.ts'
import type { PartInForce } from './parts-in-force.ts'
import { allOf, condition, type SqlCondition } from './where.ts'

/** The archived days of the admin log. */
export function olderDays(archive: Pick<Archive, 'slice' | 'parts' | 'counts' | 'groups'>): OlderDays {
  return {
    rows: ({ filter, slice, order, most }, terms) =>
      within(terms, (signal) =>
        archive.slice({ where: rowsIn(filter, slice), from: slice.from, to: slice.to, order, most }, signal),
      ),
    counts: ({ filter, slice, bucketMs, recent }, terms) =>
      withRecent(archive, slice, recent, terms, async (parts, signal) => {
        const { from, to } = slice
        const counts = await archive.counts(
          { where: rowsIn(filter, slice), from, to, bucketMs },
          parts,
          signal,
        )
        return counts?.map(({ starts_ms, ...rest }) => ({ ...rest, starts_at: new Date(Number(starts_ms)) }))
      }),
    groups: ({ filter, slice, select, recent }, terms) =>
      withRecent(archive, slice, recent, terms, (parts, signal) =>
        archive.groups(
          { where: rowsIn(filter, slice), from: slice.from, to: slice.to, select },
          parts,
          signal,
        ),
      ),
  }
}

/** `older` resolves to undefined if the files have changed since they were listed. */
async function withRecent<Row>(
  archive: Pick<Archive, 'parts'>,
  { from, to }: Slice,
  recent: () => Promise<Row[]>,
  terms: OlderTerms,
  older: (parts: readonly PartInForce[], signal: AbortSignal | undefined) => Promise<Row[] | undefined>,
): Promise<Row[]> {
  for (let attempt = 0; attempt <= listAgainMax; attempt++) {
    const parts = await within(terms, (signal) =>
      archive.parts('requests', { from, to }, signal === undefined ? {} : { signal }),
    )
    const hot = await recent()
    const cold = await within(terms, (signal) => older(parts, signal)).catch((error: unknown) => {
      if (error instanceof ListAgainError) return undefined
      throw error
    })
    // A day that was archived between the two queries would otherwise be counted twice.
    if (cold !== undefined) return [...hot, ...cold]
  }
  throw new OlderDaysError(gatewayError('archive_changing', {}, { retryAfterSeconds: 2 }))
}

/** Ids are compared only if the times alone do not decide, so counts need not read the ids. */
function rowsIn(filter: LogFilter, { fromId, toId, from, to }: Slice): SqlCondition {
  const ids = [
    ...(fromId === firstIdAt(from.getTime()) ? [] : [condition('id >= ?', fromId)]),
    ...(toId === firstIdAt(to.getTime()) ? [] : [condition('id < ?', toId)]),
  ]
  return allOf([...ids, rowsMatching(filter)])
}

/** Turns archive errors that a client may see into OlderDaysErrors. */
async function within<T>(
  { withinMs, signal }: OlderTerms,
  ask: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const timer =
    withinMs === undefined ? undefined : setTimeout(() => late.abort(new OlderTooLong(withinMs)), withinMs)
  const signals = [...(signal === undefined ? [] : [signal]), ...(timer === undefined ? [] : [late.signal])]
  try {
    return await ask(signals.length === 0 ? undefined : AbortSignal.any(signals))
  } catch (error) {
    // A slice that is too long is not a failure: its walk continues with shorter ones.
    if (!(error instanceof GatewayError) || error instanceof SliceTooLong) throw error
    throw new OlderDaysError(error)
  } finally {
    clearTimeout(timer)
  }
}
