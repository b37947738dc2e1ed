import type { ListRow } from '../../journal/row.ts'
import type { Position } from '../queries.ts'
import type { Archive } from './archive.ts'
import { ListAgainError, listAgainMax } from './list-again.ts'
import type { PartInForce } from './parts-in-force.ts'
import type { SqlCondition } from './where.ts'

export interface AcrossQuery {
  /** Queries Postgres for `limit` rows after the position `after`, newest first. */
  hot(limit: number): Promise<ListRow[]>
  archive: Pick<Archive, 'parts' | 'rows'>
  /** The same selection of rows, for the archive. */
  where: SqlCondition
  from?: Date | undefined
  to?: Date | undefined
  after: Position | undefined
  limit: number
  signal?: AbortSignal | undefined
  /** Milliseconds since the epoch. */
  nowMs: number
}

/** `next` is where the next page begins; null on the last page. Earlier pages can also be short or empty. */
export interface Page {
  rows: ListRow[]
  next: Position | null
}

/**
 * A page of the log from Postgres and the archive, with each row once. Postgres is queried first, so a day
 * that is archived between the two queries is found twice, and its rows are deduplicated by id; no row is
 * missed.
 * If the archive cannot be read, the page ends before the newest archived row, and the next page rejects.
 */
export async function pageAcross(query: AcrossQuery): Promise<Page> {
  const { limit, nowMs } = query
  for (let attempt = 0; ; attempt++) {
    const hot = await query.hot(limit + 1)
    const oldest = hot.length > limit ? hot.at(-1)?.created_at : undefined
    const from = later(oldest, query.from)
    // At least yesterday and today are in Postgres, so the first pages read only Postgres.
    if (from !== undefined && from.getTime() >= nowMs - dayMs) return pageOf(hot, limit)
    const terms = query.signal === undefined ? {} : { signal: query.signal }
    const parts = await query.archive.parts(
      'requests',
      { from, to: earlier(query.after?.createdAt, query.to) },
      terms,
    )
    if (parts.length === 0) return pageOf(hot, limit)
    try {
      return await merged(query, hot, parts)
    } catch (error) {
      if (error instanceof ListAgainError && attempt < listAgainMax) continue
      const first = before(hot, parts)
      const last = first.at(-1)
      if (last === undefined || query.signal?.aborted === true) throw error
      return { rows: first.slice(0, limit), next: positionOf(first[limit - 1] ?? last) }
    }
  }
}

async function merged(
  { archive, where, after, limit, signal }: AcrossQuery,
  hot: ListRow[],
  parts: PartInForce[],
): Promise<Page> {
  const { rows: cold, searchedTo } = await archive.rows(parts, where, after, limit + 1, signal)
  const all = new Map([...cold, ...hot].map((row) => [row.id, row]))
  const rows = [...all.values()].sort(newestFirst)
  if (searchedTo === undefined) return pageOf(rows, limit)
  const known = rows.filter((row) => row.created_at >= searchedTo.createdAt)
  return known.length > limit ? pageOf(known, limit) : { rows: known, next: searchedTo }
}

function pageOf(rows: readonly ListRow[], limit: number): Page {
  const last = rows[limit - 1]
  return {
    rows: rows.slice(0, limit),
    next: rows.length > limit && last !== undefined ? positionOf(last) : null,
  }
}

/** The rows that are newer than every archived row. */
function before(rows: readonly ListRow[], parts: readonly PartInForce[]): ListRow[] {
  return rows.filter((row) => parts.every(({ lastAt }) => row.created_at > lastAt))
}

function positionOf(row: ListRow): Position {
  return { createdAt: row.created_at, id: row.id }
}

function newestFirst(one: ListRow, other: ListRow): number {
  const ms = other.created_at.getTime() - one.created_at.getTime()
  if (ms !== 0) return ms
  return one.id < other.id ? 1 : -1
}

function later(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one > other ? one : other
}

function earlier(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one < other ? one : other
}

const dayMs = 86_400_000
