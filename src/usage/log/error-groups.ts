import type postgres from 'postgres'
import { momentOf } from '../../journal/tuple.ts'
import { type ErrorParts, type ErrorRow, type ErrorsBy, errorSelect } from './error-rows.ts'
import { type Tallied, tally } from './tally.ts'
import { type AskLog, type Walk, walkGroups } from './walk.ts'

export interface ErrorGroup extends ErrorParts {
  requests: number
  firstAt: Date
  lastAt: Date
  lastId: string
}

export interface ErrorGroups extends Tallied {
  /** Largest first. */
  groups: ErrorGroup[]
  requests: number
}

/**
 * Groups the matching errors by kind, endpoint, channel and upstream status, newest first, for at most
 * `withinMs`. If older days cannot be read, the counts end before them.
 */
export async function groupErrors(
  ask: AskLog,
  walk: Omit<Walk, 'rowsMax' | 'order' | 'endAt'>,
  { by, withinMs }: { by: ErrorsBy; withinMs: number },
): Promise<ErrorGroups> {
  const groups = new Map<string, ErrorGroup>()
  let requests = 0
  const reached = await tally<ErrorRow>(
    walk,
    withinMs,
    (endAt) => walkGroups(ask, { ...walk, endAt }, errorSelect(by)),
    (row) => {
      add(groups, row)
      requests += Number(row.requests)
    },
  )
  const largest = (one: ErrorGroup, other: ErrorGroup) =>
    other.requests - one.requests || other.lastAt.getTime() - one.lastAt.getTime()
  return { ...reached, requests, groups: [...groups.values()].sort(largest) }
}

function add(groups: Map<string, ErrorGroup>, { requests, first_id, last_id, ...parts }: ErrorRow): void {
  const { kind, reason, endpoint, channel, upstream_status } = parts
  const name = JSON.stringify([kind, reason, endpoint, channel, upstream_status])
  const firstAt = new Date(momentOf(first_id))
  const lastAt = new Date(momentOf(last_id))
  const before = groups.get(name)
  groups.set(name, {
    ...parts,
    requests: Number(requests) + (before?.requests ?? 0),
    firstAt: before === undefined || firstAt < before.firstAt ? firstAt : before.firstAt,
    lastAt: before === undefined || lastAt > before.lastAt ? lastAt : before.lastAt,
    lastId: before === undefined || last_id > before.lastId ? last_id : before.lastId,
  })
}

/** The messages that clients received, by request id. Requests of archived days are left out. */
export async function messagesOf(
  sql: postgres.Sql,
  groups: readonly ErrorGroup[],
): Promise<Map<string, string | null>> {
  if (groups.length === 0) return new Map()
  const moments = groups.map(({ lastAt }) => lastAt.getTime())
  const rows = await sql<{ id: string; error_message: string | null }[]>`
    select id, error_message from requests
    where id in ${sql(groups.map(({ lastId }) => lastId))}
      and created_at >= ${new Date(Math.min(...moments))} and created_at < ${new Date(Math.max(...moments) + 1)}`
  return new Map(rows.map(({ id, error_message }) => [id, error_message]))
}
