import { z } from 'zod'
import { gatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import type { ListRow } from '../journal/row.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Archive } from '../usage/archive/archive.ts'
import { findOwn, listOwn, summariseOwn } from '../usage/archive/own-log.ts'
import { inScope } from '../usage/log/row-tests.ts'
import { tenantSummary } from '../usage/tenant-summary.ts'
import { type ClientEndpoint, keyEndpoint } from './endpoint.ts'
import { filterFrom } from './log-filter.ts'
import { noParameters } from './parameter.ts'
import { readFor } from './read-for.ts'
import { attemptOfTenant, detailJson, requestJson, summaryJson, withoutChannel } from './usage-json.ts'
import {
  cursorAfterWalk,
  needsWalk,
  positionCursor,
  requestQuery,
  summaryQuery,
  usageRange,
} from './usage-query.ts'
import { usageDetail, usagePage, usageSummary } from './usage-row.ts'
import { rowScopeOf, type UsageWalkContext, usageExportEndpoint, walkOwnRows } from './usage-walk.ts'

export interface UsageContext {
  clock: Clock
  database: Pick<Database, 'reads' | 'log'>
  bounds: UsageWalkContext['bounds'] & { rollupHoursDays: number }
  /** The days that are no longer in Postgres. */
  archive: Archive
  exports: UsageWalkContext['exports']
  /** Whether tenants can see channel names and attempts. */
  showsRouting: boolean
  /**
   * Ships the newest rows, so that the caller finds its most recent requests, and their costs in its budgets.
   * Limited in time; never rejects.
   */
  shipNow(): Promise<unknown>
}

/**
 * The usage log: the rows of the caller's tenant, or only those of its key, depending on the key. Rejects
 * with `unknown_path` if a request does not exist, with `unavailable` while Postgres is down, and with
 * `rate_limited` while too many queries of the tenant are waiting.
 */
export function usageEndpoints({
  clock,
  database,
  archive,
  bounds,
  exports,
  showsRouting,
  shipNow,
}: UsageContext): ClientEndpoint[] {
  const log = { clock, database, archive }
  const rowJson = (row: ListRow) => requestJson(showsRouting ? row : withoutChannel(row))
  return [
    keyEndpoint({
      method: 'GET',
      path: '/v1/usage/requests',
      summary: 'List the requests in the usage log, newest first',
      description:
        'A search with filters that have no index may return before the page is full: with few rows or none, and a cursor for the rest.',
      query: requestQuery,
      answer: usagePage,
      async handle({ stage, query, signal }) {
        const { cursor, limit } = query
        await shipNow()
        const { from, to } = query
        const filter = { from, to, ...filterFrom({ ...query }) }
        const scope = rowScopeOf(stage.identity)
        if (needsWalk(query)) {
          const walk = { from, to, cursor: cursor?.id, limit, signal }
          const found = await walkOwnRows({ clock, database, bounds }, inScope(filter, scope), scope, walk)
          const next = found.cursor
          return {
            body: {
              data: found.rows.map(rowJson),
              next_cursor: next === null ? null : cursorAfterWalk(next),
            },
          }
        }
        const { rows, next } = await readFor(stage, (terms) =>
          listOwn(log, scope, filter, cursor, limit, { ...away, ...terms }),
        )
        return { body: { data: rows.map(rowJson), next_cursor: next === null ? null : positionCursor(next) } }
      },
    }),
    keyEndpoint({
      method: 'GET',
      path: '/v1/usage/requests/{id}',
      summary: 'Get a request with its redacted body, its attempts and the parts of its cost',
      params: z.object({ id: z.string().describe('The `x-request-id` of the response.') }),
      query: noParameters,
      answer: usageDetail,
      async handle({ stage, params }) {
        const id = params.id.toLowerCase()
        if (!uuid.test(id)) throw gatewayError('request_not_found')
        await shipNow()
        const found = await readFor(stage, (terms) =>
          findOwn(log, rowScopeOf(stage.identity), id, { ...away, ...terms }),
        )
        if (found === undefined) throw gatewayError('request_not_found')
        return {
          body: detailJson(
            showsRouting
              ? { ...found, attempt_rows: found.attempt_rows.map(attemptOfTenant) }
              : { ...withoutChannel(found), attempt_rows: [] },
          ),
        }
      },
    }),
    usageExportEndpoint({ clock, database, bounds, exports, showsRouting, shipNow }),
    keyEndpoint({
      method: 'GET',
      path: '/v1/usage/summary',
      summary: 'Get totals by day and model, newest day first',
      query: summaryQuery,
      answer: usageSummary,
      async handle({ stage, query }) {
        const span = usageRange(query, clock.now())
        await shipNow()
        const scope = rowScopeOf(stage.identity)
        const found = await readFor(stage, async (reader) => {
          const terms = { ...away, ...reader }
          // The sums by model have no keys, and no models as served.
          const stored =
            scope.keyId === null && query.model === undefined
              ? await database.reads.ask(({ sql }, running) => {
                  const asked = { from: span.from.getTime(), to: span.to.getTime() }
                  const times = { nowMs: clock.now(), hoursDays: bounds.rollupHoursDays }
                  return tenantSummary(sql, stage.identity.tenantId, asked, times, running)
                }, terms)
              : undefined
          if (stored !== undefined) return stored
          return { ...span, rows: await summariseOwn(log, scope, { ...span, ...filterFrom(query) }, terms) }
        })
        const [from, to] = [new Date(found.from), new Date(found.to)]
        return {
          body: { from: from.toISOString(), to: to.toISOString(), data: found.rows.map(summaryJson) },
        }
      },
    }),
  ]
}

const away = {
  unavailable: 'The usage log cannot be read at the moment. No data is lost. Try again shortly.',
  retryAfterSeconds: 5,
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
