import type { Database } from '../../db/database.ts'
import type { Terms } from '../../db/pool.ts'
import { momentOf } from '../../journal/tuple.ts'
import type { Clock } from '../../runtime/clock.ts'
import {
  findBeside,
  findRequest,
  listRequests,
  type Position,
  type RequestDetail,
  type RequestFilter,
  type RowScope,
  type SummaryRow,
  summariseRequests,
} from '../queries.ts'
import { type Page, pageAcross } from './across.ts'
import type { Archive } from './archive.ts'
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
  filter: RequestFilter,
  after: Position | undefined,
  limit: number,
  terms: OwnTerms,
): Promise<Page> {
  const { requestId } = filter
  const at = requestId === undefined ? undefined : new Date(momentOf(requestId))
  return pageAcross({
    hot: (most) => database.reads.ask(({ sql }) => listRequests(sql, scope, filter, after, most), terms),
    archive,
    where: ownRowsCondition(scope, filter),
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
  const found = await archive.find(id, ownRowsCondition(scope, {}), signal)
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
  filter: { from: Date; to: Date; model?: string },
  terms: OwnTerms,
): Promise<SummaryRow[]> {
  const { from, to, model } = filter
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
    const named =
      model === undefined ? [] : [condition('requested_model = ? OR served_model = ?', model, model)]
    const where = allOf([ownRowsCondition(scope, { from, to }), ...named])
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

/** The rows of a tenant or key that match a filter, selected as by listRequests() in usage/queries.ts. */
export function ownRowsCondition(scope: RowScope, filter: RequestFilter): SqlCondition {
  const { from, to, model, statusRange, outcome, endpoint, requestId, endUser, session, tags } = filter
  const parts = [condition('tenant_id = ?', scope.tenantId)]
  if (scope.keyId !== null) parts.push(condition('key_id = ?', scope.keyId))
  if (from !== undefined) parts.push(condition('created_at >= ?', from))
  if (to !== undefined) parts.push(condition('created_at < ?', to))
  if (requestId !== undefined)
    parts.push(condition('id = ? AND created_at = ?', requestId, new Date(momentOf(requestId))))
  if (model !== undefined) {
    // The list by model omits a row without a requested model; the list by tag does not.
    const served =
      tags === undefined ? 'served_model = ? AND served_model <> requested_model' : 'served_model = ?'
    parts.push(condition(`requested_model = ? OR (${served})`, model, model))
  }
  if (statusRange !== undefined)
    parts.push(condition('status BETWEEN ? AND ?', statusRange.least, statusRange.most))
  if (outcome !== undefined) parts.push(condition('outcome = ?', outcome))
  if (endpoint !== undefined) parts.push(condition('endpoint = ?', endpoint))
  if (endUser !== undefined) parts.push(condition('end_user = ?', endUser))
  if (session !== undefined) parts.push(condition('session = ?', session))
  if (tags !== undefined) parts.push(condition('list_has_all(tags, ?)', tags))
  return allOf(parts)
}
