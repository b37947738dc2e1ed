import { z } from 'zod'
import { invalid } from '../../canonical/field-error.ts'
import { countRequests } from '../../usage/log/count.ts'
import { firstRows } from '../../usage/log/first-rows.ts'
import { greatestRows } from '../../usage/log/greatest.ts'
import { namesFor } from '../../usage/log/names-queries.ts'
import { uuid } from '../../usage/log/next-id.ts'
import type { LogRow } from '../../usage/log/row-tests.ts'
import type { Measure } from '../../usage/log/slice.ts'
import { walkRequests } from '../../usage/log/walk.ts'
import { filterParameters } from '../log-filter.ts'
import { oneOfWords } from '../parameter.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { cursorAt, listParameters, orderOf, placeAt } from './list.ts'
import { logRow, logRowJson } from './log-row.ts'
import { beginWalk, logTimes, requireOrder, type WalkContext } from './log-walk.ts'
import { seesRouting } from './permit.ts'

export type AdminRequestsContext = WalkContext

export const logProgress = z
  .object({
    searched_from: z.iso.datetime(),
    searched_to: z.iso.datetime(),
    done: z
      .boolean()
      .describe(
        'False if the page is not full and there is more to search, in which case request the next page. When sorted by a value, false means that there may be greater values outside this period.',
      ),
  })
  .describe('The part of the log in which all matching rows have been found.')

const page = z
  .object({
    data: z.array(logRow),
    next_cursor: z
      .string()
      .nullable()
      .describe('Null if the whole period has been searched, and when sorted by a value.'),
    progress: logProgress,
  })
  .meta({ id: 'LogPage' })

/** The sort names for the greatest values, and their columns. */
const measures: Readonly<Record<string, Measure>> = {
  cost: 'cost_nano',
  total_ms: 'total_ms',
  first_token_ms: 'first_token_ms',
}

const inOrder = {
  ...listParameters(['-created_at']),
  sort: oneOfWords(['-created_at', 'created_at', '-cost', '-total_ms', '-first_token_ms'])
    .default('-created_at')
    .describe(
      'By time (with a minus, newest first), or by the greatest cost, total time or time to first token in the period: then a single page of up to `limit` rows that have a value.',
    ),
}

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
        outcomes: z.record(z.string(), z.int()).describe('The number of requests by outcome.'),
      }),
    ),
    requests: z.int().describe('The number of requests that were counted.'),
    exact: z.boolean().describe('False if only the requests in the period of `progress` were counted.'),
    progress: logProgress,
  })
  .meta({ id: 'LogHistogram' })

/** The usage log of all tenants. Members only see the rows of their own tenant. */
export function adminRequestsEndpoints(context: AdminRequestsContext): AdminEndpoint[] {
  return [logEndpoint(context), histogramEndpoint(context)]
}

function logEndpoint(context: AdminRequestsContext): AdminEndpoint {
  const { bounds } = context
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/requests',
    area: 'log',
    tenants: 'own',
    summary: 'List requests in the usage log, filtered by any column',
    description:
      'Filters can be combined. If a filter is given several times, any of its values matches; an empty value matches rows without a value. The prefix `not_` negates a filter. A long search returns what it has found so far, with `progress` and a cursor for the rest.',
    query: z.strictObject({ ...filterParameters, ...inOrder, ...logTimes }),
    answer: page,
    async handle({ actor, query, signal }) {
      const { limit, cursor, sort } = query
      requireOrder(query)
      const { by, descending } = orderOf(sort)
      const at = placeAt(sort, cursor)?.id
      if (at !== undefined && !(uuid.test(at) && by === 'created_at'))
        throw invalid('cursor', 'expected the next_cursor of the previous page')
      const { ask, ...walk } = await beginWalk(context, actor, query, signal)
      const withinMs = bounds.logQueryMs
      const named = async (rows: LogRow[]) => {
        const names = await ask((sql) => namesFor(sql, rows), { withinMs, signal })
        return rows.map((row) => logRowJson(row, names, seesRouting(context, actor)))
      }
      const measure = measures[by]
      if (measure !== undefined) {
        const { rows, done, searchedTo } = await greatestRows(ask, walk, { measure, most: limit, withinMs })
        const progress = {
          searched_from: searchedTo.toISOString(),
          searched_to: walk.to.toISOString(),
          done,
        }
        return { body: { data: await named(rows), next_cursor: null, progress } }
      }
      const order = descending ? 'newest' : 'oldest'
      const { clock } = walk
      const endAt = clock.elapsed() + withinMs
      const batches = walkRequests(ask, { ...walk, order, cursor: at, rowsMax: limit, endAt })
      const found = await firstRows(batches, { clock, most: limit, withinMs, order })
      const begins = descending ? walk.to : walk.from
      const reached = found.searchedTo ?? (descending ? walk.from : walk.to)
      return {
        body: {
          data: await named(found.rows),
          next_cursor: found.cursor === null ? null : cursorAt(sort, { value: null, id: found.cursor }),
          progress: {
            searched_from: (descending ? reached : begins).toISOString(),
            searched_to: (descending ? begins : reached).toISOString(),
            done: found.cursor === null || found.rows.length === limit,
          },
        },
      }
    },
  })
}

function histogramEndpoint(context: AdminRequestsContext): AdminEndpoint {
  const { bounds } = context
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/requests/histogram',
    area: 'log',
    tenants: 'own',
    summary: 'Count the matching requests by time and outcome',
    query: z.strictObject({
      ...filterParameters,
      ...logTimes,
      width: oneOfWords(['minute', 'hour', 'day'])
        .optional()
        .describe('The width of a bucket. The default depends on the time between `from` and `to`.'),
    }),
    answer: histogram,
    async handle({ actor, query, signal }) {
      const { ask, ...walk } = await beginWalk(context, actor, query, signal)
      const spanMs = walk.to.getTime() - walk.from.getTime()
      const width =
        query.width ?? (spanMs <= 3 * widths.hour ? 'minute' : spanMs <= 7 * widths.day ? 'hour' : 'day')
      if (spanMs / widths[width] > bucketsMax)
        throw invalid(
          'width',
          `expected at most ${bucketsMax} buckets between "from" and "to"; choose a larger width`,
        )
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
  })
}
