import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import type { Archive } from '../../archive/archive.ts'
import { olderDays } from '../../archive/older-days.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Database } from '../../db/database.ts'
import { askLogFor } from '../../ledger/log/ask.ts'
import { countRequests } from '../../ledger/log/count.ts'
import { type AdminFilter, ofTenant } from '../../ledger/log/filter.ts'
import { firstRows } from '../../ledger/log/first-rows.ts'
import { namesFor, withIds } from '../../ledger/log/names-queries.ts'
import { uuid } from '../../ledger/log/positions.ts'
import { logSpan } from '../../ledger/log/span-queries.ts'
import { type AskLog, walkRequests } from '../../ledger/log/walk.ts'
import { moment, oneOf } from '../parameter.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { cursorAt, listParameters, orderOf, placeAt } from './list.ts'
import { filterFrom, filterParameters } from './log-filter.ts'
import { logRow, logRowJson } from './log-row.ts'
import { tenantOf } from './permit.ts'

export interface AdminRequestsContext {
  database: Pick<Database, 'log'>
  archive: Archive
  bounds: { logQueryMs: number }
  /** `shipNow` ships the newest rows, so that they are found. It has a bound, and never rejects. */
  ledger: { shipNow(): Promise<unknown> }
}

const times = {
  from: moment('first moment')
    .optional()
    .describe('Requests from this moment on. Default: all that are kept.'),
  to: moment('end')
    .optional()
    .describe('Requests before this moment; a day is meant to its end. Default: now.'),
}

const progress = z
  .object({
    searched_from: z.iso.datetime(),
    searched_to: z.iso.datetime(),
    done: z
      .boolean()
      .describe('False: the page is not full, and there is more to search. Ask for the next page.'),
  })
  .describe('The part of the log in which all matching rows are found.')

const page = z
  .object({
    data: z.array(logRow),
    next_cursor: z.string().nullable().describe('Null when the whole time is searched.'),
    progress,
  })
  .meta({ id: 'LogPage' })

const widths = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }
const bucketsMax = 2_000

const histogram = z
  .object({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    width: z.enum(['minute', 'hour', 'day']),
    data: z.array(
      z.object({
        starts_at: z.iso.datetime(),
        outcomes: z.record(z.string(), z.int()).describe('Requests by outcome.'),
      }),
    ),
    requests: z.int().describe('All that were counted.'),
    exact: z.boolean().describe('False: only the requests in `progress` are counted.'),
    progress,
  })
  .meta({ id: 'LogHistogram' })

/** The usage log of all tenants. A member sees the rows of its own tenant. */
export function adminRequestsEndpoints({
  database,
  archive,
  bounds,
  ledger,
}: AdminRequestsContext): AdminEndpoint[] {
  const older = olderDays(archive)
  /** A walk of this actor: it sees what it may. */
  async function begin(
    actor: Actor,
    query: { from?: Date | undefined; to?: Date | undefined },
    signal: AbortSignal,
  ) {
    await ledger.shipNow()
    const ask = askLogFor(database, `admin ${actor.id ?? 'operator'}`, away)
    const own = tenantOf(actor)
    const filter = filterFrom(query)
    const asked = own === undefined ? filter : ofTenant(filter, own)
    const resolved = await ask((sql) => withIds(sql, asked), { withinMs: bounds.logQueryMs, signal })
    const span = await timesOf(ask, resolved, query, signal)
    return { ask, filter: resolved, ...span, signal, older }
  }

  async function timesOf(
    ask: AskLog,
    filter: AdminFilter,
    { from, to }: { from?: Date | undefined; to?: Date | undefined },
    signal: AbortSignal,
  ) {
    const kept = await ask((sql) => logSpan(sql, filter), { withinMs: bounds.logQueryMs, signal })
    const span = {
      from: from === undefined || from < kept.from ? kept.from : from,
      to: to === undefined || to > kept.to ? kept.to : to,
    }
    return span.from < span.to ? span : { from: span.to, to: span.to }
  }

  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/requests',
      area: 'log',
      tenants: 'own',
      summary: 'The usage log, by any of its columns',
      description:
        'Any number of filters together; several values of one: any of them; an empty one: rows without a value. `not_` before its name turns a filter round. A long search answers what it has found so far, with `progress`, and a cursor for the rest.',
      query: z.strictObject({ ...filterParameters, ...listParameters(['-created_at']), ...times }),
      answer: page,
      async handle({ actor, query, signal }) {
        const { limit, cursor, sort } = query
        if (query.from !== undefined && query.to !== undefined && query.from >= query.to)
          throw invalid('to', 'expected a time after "from"')
        const at = placeAt(sort, cursor)?.id
        if (at !== undefined && !uuid.test(at))
          throw invalid('cursor', 'expected next_cursor of the page before')
        const { ask, ...walk } = await begin(actor, query, signal)
        const { descending } = orderOf(sort)
        const order = descending ? 'newest' : 'oldest'
        const withinMs = bounds.logQueryMs
        const endAt = performance.now() + withinMs
        const batches = walkRequests(ask, { ...walk, order, cursor: at, rowsMax: limit, endAt })
        const found = await firstRows(batches, { most: limit, withinMs, order })
        const names = await ask((sql) => namesFor(sql, found.rows), { withinMs: bounds.logQueryMs, signal })
        const begins = descending ? walk.to : walk.from
        const reached = found.searchedTo ?? (descending ? walk.from : walk.to)
        return {
          body: {
            data: found.rows.map((row) => logRowJson(row, names)),
            next_cursor: found.cursor === null ? null : cursorAt(sort, { value: null, id: found.cursor }),
            progress: {
              searched_from: (descending ? reached : begins).toISOString(),
              searched_to: (descending ? begins : reached).toISOString(),
              done: found.cursor === null || found.rows.length === limit,
            },
          },
        }
      },
    }),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/requests/histogram',
      area: 'log',
      tenants: 'own',
      summary: 'How many requests match, by time and outcome',
      query: z.strictObject({
        ...filterParameters,
        ...times,
        width: oneOf(['minute', 'hour', 'day'])
          .optional()
          .describe('Default: by the time between `from` and `to`.'),
      }),
      answer: histogram,
      async handle({ actor, query, signal }) {
        const { ask, ...walk } = await begin(actor, query, signal)
        const spanMs = walk.to.getTime() - walk.from.getTime()
        const width =
          query.width ?? (spanMs <= 3 * widths.hour ? 'minute' : spanMs <= 7 * widths.day ? 'hour' : 'day')
        if (spanMs / widths[width] > bucketsMax)
          throw invalid('width', `expected at most ${bucketsMax} of them between "from" and "to"`)
        const counted = await countRequests(ask, walk, {
          bucketMs: widths[width],
          withinMs: bounds.logQueryMs,
        })
        return {
          body: {
            from: walk.from.toISOString(),
            to: walk.to.toISOString(),
            width,
            data: counted.buckets.map(({ startsAt, outcomes }) => ({
              starts_at: startsAt.toISOString(),
              outcomes,
            })),
            requests: counted.requests,
            exact: counted.done,
            progress: {
              searched_from: counted.searchedTo.toISOString(),
              searched_to: walk.to.toISOString(),
              done: counted.done,
            },
          },
        }
      },
    }),
  ]
}

const away = {
  unavailable: 'The usage log cannot be read just now. Nothing is lost: try again.',
  retryAfterSeconds: 5,
}
