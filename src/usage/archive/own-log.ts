import type { Database } from '../../db/database.ts'
import type { Terms } from '../../db/pool.ts'
import { momentOf } from '../../journal/tuple.ts'
import type { Clock } from '../../runtime/clock.ts'
import { inScope, type RowScope } from '../log/row-tests.ts'
import {
  findBeside,
  findRequest,
  idsOf,
  isByModel,
  listRequests,
  type Position,
  type RequestDetail,
  type SummaryRow,
  summariseRequests,
  type TimedFilter,
  tagsOf,
} from '../queries.ts'
import { type Page, pageAcross } from './across.ts'
import type { Archive } from './archive.ts'
import { rowsMatching } from './conditions.ts'
import { ListAgainError, listAgainMax } from './list-again.ts'
import { addSummaries, archivedSummary, summarySelect } from './summaries.ts'
import { allOf, condition, type SqlCondition } from './where.ts'

export interface OwnLogNeeds {
  database: Pick<Database, 'reads'>
  archive: Archive
  clock: Clock
}

type OwnTerms = Pick<Terms, 'owner' | 'signal' | 'unavailable' | 'retryAfterSeconds'>

/** A page of a tenant's rows from Postgres and the archive. */
export function listOwn(
  { clock, database, archive }: OwnLogNeeds,
  scope: RowScope,
  filter: TimedFilter,
  after: Position | undefined,
  limit: number,
  terms: OwnTerms,
): Promise<Page> {
  const [id] = idsOf(filter) ?? []
  const at = id === undefined ? undefined : new Date(momentOf(id))
  return pageAcross({
    hot: (most) => database.reads.ask(({ sql }) => listRequests(sql, scope, filter, after, most), terms),
    archive,
    where: listedRows(scope, filter),
    from: at ?? filter.from,
    to: at ?? filter.to,
    after,
    limit,
    signal: terms.signal,
    nowMs: clock.now(),
  })
}

/**
 * One request: row, attempts, body and answer, each from Postgres or from the archive. Postgres is queried
 * first, so that a day that is archived in the meantime is not missed.
 */
export async function findOwn(
  { database, archive }: OwnLogNeeds,
  scope: RowScope,
  id: string,
  terms: OwnTerms,
): Promise<RequestDetail | undefined> {
  const { signal } = terms
  const hot = await database.reads.ask(({ sql }) => findRequest(sql, scope, id), terms)
  if (hot !== undefined) return { ...hot, ...(await completed(archive, id, hot, signal)) }
  const found = await archive.find(id, ownRows(scope, { conditions: [] }), signal)
  if (found === undefined) return undefined
  const { price_id: priceId, ...row } = found
  const beside = await database.reads.ask(({ sql }) => findBeside(sql, id, priceId), terms)
  return {
    ...row,
    price: beside.price,
    ...(await completed(archive, id, beside, signal)),
  }
}

type Beside = Pick<RequestDetail, 'attempt_rows' | 'payload' | 'answer'>

/** The attempts, body and answer, from the archive if they are no longer in Postgres. */
export async function completed(
  archive: Pick<Archive, 'attempts' | 'payload' | 'answer'>,
  id: string,
  { attempt_rows: attempts, payload, answer }: Beside,
  signal: AbortSignal | undefined,
): Promise<Beside> {
  return {
    // Sequential, because an archive reader runs one query at a time.
    attempt_rows: attempts.length > 0 ? attempts : await archive.attempts(id, signal),
    payload: payload ?? (await archive.payload(id, signal)) ?? null,
    answer: answer ?? (await archive.answer(id, signal)) ?? null,
  }
}

/** The totals of summariseRequests(), from Postgres and the archive. */
export async function summariseOwn(
  { database, archive }: OwnLogNeeds,
  scope: RowScope,
  filter: TimedFilter,
  terms: OwnTerms,
): Promise<SummaryRow[]> {
  const { from, to } = filter
  const parts = () => archive.parts('requests', { from, to }, terms)
  let before = await parts()
  for (let attempt = 0; ; attempt++) {
    const hot = await database.reads.ask(({ sql }) => summariseRequests(sql, scope, filter), terms)
    const after = await parts()
    const isSame = JSON.stringify(before) === JSON.stringify(after)
    before = after
    // A day that was archived in between would be counted twice.
    if (!isSame && attempt < listAgainMax) continue
    if (after.length === 0) return hot
    const where = ownRows(scope, filter)
    const rows = [...hot]
    try {
      for await (const some of archive.sums(after, summarySelect, where, terms.signal))
        rows.push(...some.map(archivedSummary))
      return addSummaries(rows)
    } catch (error) {
      if (!(error instanceof ListAgainError) || attempt >= listAgainMax) throw error
      before = await parts()
    }
  }
}

/** The rows that listRequests() in usage/queries.ts selects. */
export function listedRows(scope: RowScope, filter: TimedFilter): SqlCondition {
  const rows = ownRows(scope, filter)
  // The list by model omits a row without a requested model; the list by tag does not.
  const isWhole = !filter.conditions.some(isByModel) || tagsOf(filter).length > 0
  return isWhole ? rows : allOf([rows, condition('requested_model IS NOT NULL')])
}

/** The rows of a tenant or key that match a filter. */
function ownRows(scope: RowScope, filter: TimedFilter): SqlCondition {
  const { from, to } = filter
  const parts = [rowsMatching(inScope(filter, scope))]
  const [id, ...others] = idsOf(filter) ?? []
  if (id !== undefined && others.length === 0) parts.push(condition('created_at = ?', new Date(momentOf(id))))
  if (from !== undefined) parts.push(condition('created_at >= ?', from))
  if (to !== undefined) parts.push(condition('created_at < ?', to))
  return allOf(parts)
}
