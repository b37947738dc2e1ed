import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Database } from '../../db/database.ts'
import { namesFor } from '../../usage/log/names-queries.ts'
import type { RunningExports } from '../../usage/log/running-exports.ts'
import {
  type SummaryGroup,
  SummaryRangeError,
  type SummarySort,
  type SummaryTimes,
  summarise,
  timeline,
} from '../../usage/rollup-queries.ts'
import { partColumns } from '../../usage/summary-pieces.ts'
import type { Part, TimeRange } from '../../usage/summary-range.ts'
import { sendExport } from '../export/send-export.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { cursorAt, noCursor, orderOf, placeAt } from './list.ts'
import { listedTenant } from './permit.ts'
import { notAllowed } from './refusals.ts'
import { batchesOf, exportGroupsMax, latencyColumns, sumsColumns } from './summary-csv.ts'
import { sums, sumsJson, sumsSchema } from './summary-json.ts'
import {
  granularityOf,
  summaryExportQuery,
  summaryFilter,
  summaryParts,
  summaryQuery,
  summaryRange,
  timelineQuery,
} from './summary-query.ts'

export interface AdminSummaryContext {
  database: Pick<Database, 'reads'>
  exports: Pick<RunningExports, 'begin'>
  bounds: { rollupHoursDays: number; exportRowsMax: number; clientStallMs: number }
}

/** The members selected by `group_by`. A value is null for requests without one. */
const keys = {
  at: z.iso.datetime().optional().describe('The beginning of the minute, hour or day.'),
  tenant_id: z.uuid().nullable().optional(),
  key_id: z.uuid().nullable().optional(),
  group_id: z.uuid().nullable().optional(),
  tenant: nameOf('tenant'),
  key: nameOf('key'),
  group: nameOf('group'),
  model: z
    .string()
    .nullable()
    .optional()
    .describe('The model, as requested. Also null if there was no such model.'),
  channel: z.string().nullable().optional(),
  outcome: z.string().optional(),
}

function nameOf(kind: string) {
  return z.string().nullable().optional().describe(`The last name of the ${kind} in this time.`)
}

const span = {
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  exact: z
    .boolean()
    .describe(
      'False if the period was extended to whole hours, because its ends contain too many requests to read or are no longer stored.',
    ),
  waiting_days: z
    .number()
    .int()
    .describe(
      'The number of days in the period that are not counted yet. They are counted in the background after an upgrade, which takes minutes.',
    ),
}

const summary = z
  .object({
    ...span,
    data: z.array(z.object({ ...keys, ...sums })),
    other: z
      .object({ groups: z.number().int(), ...sums })
      .nullable()
      .describe('The groups beyond this page, combined. Null if there are none.'),
    total: sumsSchema.describe('The totals of all groups.'),
    next_cursor: z.string().nullable().describe('Null on the last page.'),
  })
  .meta({ id: 'Summary' })

const { at: _at, tenant: _tenant, key: _key, group: _group, ...seriesKeys } = keys
const series = z
  .object({
    ...span,
    step: z.enum(['minute', 'hour', 'day']),
    series: z.array(
      z.object({
        ...seriesKeys,
        other: z
          .boolean()
          .describe('True for the series that combines all groups without a series of their own.'),
        points: z
          .array(z.object({ at: z.iso.datetime(), ...sums }))
          .describe('The points in chronological order, without steps that have no requests.'),
      }),
    ),
  })
  .meta({ id: 'SummaryTimeline' })

/** Totals of the usage log, by any of its parts and over any period. */
export function adminSummaryEndpoints(context: AdminSummaryContext): AdminEndpoint[] {
  const { database, bounds } = context
  const times = () => ({ nowMs: Date.now(), hoursDays: bounds.rollupHoursDays })
  const ask = groupsAsked(database, times)
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/summary',
      area: 'log',
      tenants: 'own',
      summary: 'Get totals of requests, errors, tokens, cost and latency, grouped as requested',
      query: summaryQuery,
      answer: summary,
      async handle({ actor, query, signal }) {
        const skip = skipAt(query.sort, query.cursor)
        const { found, parts, step, names } = await ask(actor, query, { limit: query.limit, skip }, signal)
        return {
          body: {
            ...spanJson(found),
            data: found.groups.map((group) => ({
              ...keysJson(group, parts, step !== undefined),
              ...names(group),
              ...sumsJson(group),
            })),
            other:
              found.other === undefined ? null : { groups: found.other.groups, ...sumsJson(found.other) },
            total: sumsJson(found.total),
            next_cursor:
              found.other === undefined ? null : cursorAt(query.sort, { value: skip + query.limit, id: '' }),
          },
        }
      },
    }),
    exportEndpoint(context, ask),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/summary/timeline',
      area: 'log',
      tenants: 'own',
      summary: 'Get totals over time, with one series for each of the highest groups',
      query: timelineQuery,
      answer: series,
      async handle({ actor, query, signal }) {
        const parts: Part[] = query.by === undefined ? [] : [query.by]
        keepFromChannels(actor, [...parts, ...(query.channel === undefined ? [] : ['channel' as const])])
        const asked = summaryRange(query, Date.now())
        const step = granularityOf(query.step, asked, parts.length === 0 ? 1 : query.top + 1)
        const found = await answered(
          database.reads.ask(
            ({ sql }, running) =>
              timeline(
                sql,
                {
                  ...asked,
                  parts,
                  step,
                  filter: summaryFilter(query, listedTenant(actor, query.tenant_id)),
                  sort: sortOf(orderOf(query.sort).by),
                  descending: orderOf(query.sort).descending,
                  limit: query.top,
                },
                times(),
                running,
              ),
            { owner: 'admin', signal },
          ),
        )
        const named = found.series.map(({ group, isOther, points }) => ({
          ...(isOther ? {} : keysJson(group, parts, false)),
          other: isOther,
          points: points.map((point) => ({
            at: (point.at ?? new Date(0)).toISOString(),
            ...sumsJson(point),
          })),
        }))
        return { body: { ...spanJson(found), step, series: named } }
      },
    }),
  ]
}

function exportEndpoint(
  { exports, bounds }: AdminSummaryContext,
  ask: ReturnType<typeof groupsAsked>,
): AdminEndpoint {
  const rowsMax = Math.min(bounds.exportRowsMax, exportGroupsMax)
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/summary/export',
    area: 'log',
    tenants: 'own',
    summary: 'Export totals as CSV, grouped as requested',
    description:
      'Contains all groups, up to EXPORT_ROWS_MAX and at most 100,000. Costs are decimal US dollars; the cell is empty if the cost of no request of the group is known.',
    query: summaryExportQuery,
    media: 'text/csv',
    async handle({ actor, query, response, signal }) {
      const end = exports.begin(`admin ${actor.id ?? 'operator'}`)
      try {
        // One more, so that the answer can say that there are more.
        const page = { limit: rowsMax + 1, skip: 0 }
        const { found, parts, step, names } = await ask(actor, query, page, signal)
        const keyColumns = parts.flatMap((part) => [...new Set([part, partColumns[part]])])
        const columns = [
          ...sumsColumns([...(step === undefined ? [] : ['at']), ...keyColumns]),
          ...latencyColumns,
        ]
        const rowOf = (group: SummaryGroup) => {
          const keys = { ...keysJson(group, parts, step !== undefined), ...names(group) }
          return columns.map(({ of }) => of(keys, group))
        }
        await sendExport(response, batchesOf(found.groups, rowOf), {
          ...{ columns, rowsMax, stallMs: bounds.clientStallMs, signal },
          format: 'csv',
          name: ['sums', ...(query.group_by ?? [])].join('-'),
        })
      } finally {
        end()
      }
      return undefined
    },
  })
}

/** Asks for groups of sums as the actor may see them, with the last names of their ids. */
function groupsAsked(database: AdminSummaryContext['database'], times: () => SummaryTimes) {
  return async (
    actor: Actor,
    query: z.output<typeof summaryExportQuery>,
    page: { limit: number; skip: number },
    signal: AbortSignal,
  ) => {
    const { parts, step } = summaryParts(query.group_by)
    keepFromChannels(actor, [...parts, ...(query.channel === undefined ? [] : ['channel' as const])])
    const { by, descending } = orderOf(query.sort)
    if (by === 'at' && step === undefined)
      throw invalid('sort', 'expected minute, hour or day in "group_by" to sort by "at"')
    const question = {
      ...summaryRange(query, Date.now()),
      ...{ parts, step, descending, ...page },
      filter: summaryFilter(query, listedTenant(actor, query.tenant_id)),
      sort: sortOf(by),
    }
    const owner = { owner: 'admin', signal }
    const found = await answered(
      database.reads.ask(({ sql }, running) => summarise(sql, question, times(), running), owner),
    )
    const named = parts.filter((part) => part === 'tenant' || part === 'key' || part === 'group')
    const names =
      named.length === 0
        ? undefined
        : await database.reads.ask(({ sql }) => namesFor(sql, found.groups), owner)
    const until = new Date(found.to)
    return {
      ...{ found, parts, step },
      names: (group: SummaryGroup): Partial<Record<'tenant' | 'key' | 'group', string | null>> =>
        Object.fromEntries(named.map((part) => [part, names?.of(part, group[`${part}_id`], until) ?? null])),
    }
  }
}

/** Only operators can see channels. */
function keepFromChannels({ tenantId }: Actor, parts: readonly Part[]): void {
  if (tenantId !== null && parts.includes('channel'))
    throw notAllowed('Members of a tenant cannot see channels. Repeat the request without "channel".')
}

/** Returns the number of groups before the page. */
function skipAt(sort: string, cursor: string | undefined): number {
  const place = placeAt(sort, cursor)
  if (place === undefined) return 0
  const { value } = place
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw noCursor()
}

async function answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    throw error instanceof SummaryRangeError ? invalid(error.field, error.message) : error
  }
}

function sortOf(name: string): SummarySort {
  return name === 'errors' || name === 'cost' || name === 'tokens' || name === 'latency' || name === 'at'
    ? name
    : 'requests'
}

function spanJson(found: TimeRange & { exact: boolean; waitingDays: number }) {
  return {
    from: new Date(found.from).toISOString(),
    to: new Date(found.to).toISOString(),
    exact: found.exact,
    waiting_days: found.waitingDays,
  }
}

function keysJson(group: SummaryGroup, parts: readonly Part[], hasStep: boolean) {
  const values: Record<string, unknown> = { ...group }
  return {
    ...(hasStep && group.at !== null ? { at: group.at.toISOString() } : {}),
    ...Object.fromEntries(parts.map((part) => [partColumns[part], values[partColumns[part]]])),
  }
}
