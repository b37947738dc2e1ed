import { momentOf } from '../../journal/tuple.ts'
import type { LogRow } from '../log/row-tests.ts'
import type { findBeside, RequestDetail } from '../queries.ts'
import type { Archive } from './archive.ts'
import { completed } from './own-log.ts'
import { allOf, condition } from './where.ts'

/** A request with everything that the log contains about it. */
export interface FoundRequest {
  row: LogRow
  detail: RequestDetail
  /** The credentials of its attempts, in order; null if none was used or it is unknown. */
  credentials: (string | null)[]
}

export interface FindNeeds {
  archive: Pick<Archive, 'slice' | 'find' | 'attempts' | 'credentials' | 'payload' | 'answer'>
  /** Queries Postgres for the row and the rows that belong to it. */
  recent(): Promise<FoundRequest | undefined>
  /** Queries Postgres for the rows that belong to an archived row, using `findBeside`. */
  beside(priceId: string | null): ReturnType<typeof findBeside>
  signal?: AbortSignal | undefined
}

/**
 * A request for an admin, each part of it from Postgres or from the archive. Postgres is queried first, so
 * that a day that is archived in the meantime is not missed. If `tenantId` is undefined, the request can
 * belong to any tenant.
 */
export async function findAnywhere(
  { archive, recent, beside, signal }: FindNeeds,
  id: string,
  tenantId: string | undefined,
): Promise<FoundRequest | undefined> {
  const own = tenantId === undefined ? condition('true') : condition('tenant_id = ?', tenantId)
  const hot = await recent()
  if (hot !== undefined) {
    const parts = await completed(archive, id, hot.detail, signal)
    const isArchived = hot.detail.attempt_rows.length === 0 && parts.attempt_rows.length > 0
    return {
      row: hot.row,
      detail: { ...hot.detail, ...parts },
      credentials: isArchived ? await archive.credentials(id, signal) : hot.credentials,
    }
  }
  const found = await archive.find(id, own, signal)
  const from = new Date(momentOf(id))
  const to = new Date(from.getTime() + 1)
  const where = allOf([own, condition('id = ?', id)])
  const [row] = await archive.slice({ where, from, to, order: 'newest', most: 1 }, signal)
  if (row === undefined || found === undefined) return undefined
  const { price_id: priceId, ...shown } = found
  const known = await beside(priceId)
  const parts = await completed(archive, id, known, signal)
  return {
    row,
    detail: { ...shown, price: known.price, ...parts },
    credentials: parts.attempt_rows.length === 0 ? [] : await archive.credentials(id, signal),
  }
}
