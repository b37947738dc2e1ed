import { z } from 'zod'
import type { Identity } from '../access/identity.ts'
import { invalid } from '../canonical/field-error.ts'
import type { Database } from '../db/database.ts'
import { requestColumns, valueIn } from '../journal/row.ts'
import type { Clock } from '../runtime/clock.ts'
import { askLogFor } from '../usage/log/ask.ts'
import { firstRows } from '../usage/log/first-rows.ts'
import { inScope, type LogFilter, type LogRow, type RowScope } from '../usage/log/row-tests.ts'
import type { RunningExports } from '../usage/log/running-exports.ts'
import { logSpan } from '../usage/log/span-queries.ts'
import { type AskLog, walkRequests } from '../usage/log/walk.ts'
import { type ClientEndpoint, keyEndpoint } from './endpoint.ts'
import { sendExport } from './export/send-export.ts'
import { columnsParameter, formatParameter } from './export-parameters.ts'
import { clientFilterParameters, filterFrom } from './log-filter.ts'
import { moment, oneOfWords } from './parameter.ts'
import { withoutChannel } from './usage-json.ts'

export interface UsageWalkContext {
  clock: Clock
  database: Pick<Database, 'log'>
  bounds: { logQueryMs: number; exportRowsMax: number; clientStallMs: number }
  exports: RunningExports
  showsRouting: boolean
  shipNow(): Promise<unknown>
}

interface Span {
  from?: Date | undefined
  to?: Date | undefined
}

const away = {
  unavailable: 'The usage log cannot be read at the moment. No data is lost. Try again shortly.',
  retryAfterSeconds: 5,
}

/**
 * Returns the first matching rows of a scope, newest first. The walk stops after `logQueryMs`, with a cursor
 * for the rest. The filter must be restricted to the scope.
 */
export async function walkOwnRows(
  { clock, database, bounds }: Pick<UsageWalkContext, 'clock' | 'database' | 'bounds'>,
  filter: LogFilter,
  scope: RowScope,
  {
    from,
    to,
    cursor,
    limit,
    signal,
  }: Span & { cursor?: string | undefined; limit: number; signal: AbortSignal },
): Promise<{ rows: LogRow[]; cursor: string | null }> {
  const ask = askOf(database, scope)
  const withinMs = bounds.logQueryMs
  const span = await spanOf(ask, clock, filter, { from, to }, { withinMs, signal })
  const batches = walkRequests(ask, { clock, ...span, filter, cursor, rowsMax: limit, signal })
  return await firstRows(batches, { clock, most: limit, withinMs, order: 'newest' })
}

/** Returns whose requests and jobs the caller can see. */
export function rowScopeOf({ tenantId, keyId, usageScope }: Identity): RowScope {
  return { tenantId, keyId: usageScope === 'key' ? keyId : null }
}

const columns = requestColumns.flatMap(({ name, kind, shown }) =>
  shown === 'nowhere' ? [] : [{ name, kind, isDefault: shown === 'list' }],
)

/** Exports the matching rows that the caller can see as a file. */
export function usageExportEndpoint(context: UsageWalkContext): ClientEndpoint {
  const { clock, database, bounds } = context
  return keyEndpoint({
    method: 'GET',
    path: '/v1/usage/export',
    summary: 'Export the usage log as CSV or NDJSON',
    description:
      'The file is sent while it is being read, newest rows first by default. It contains at most EXPORT_ROWS_MAX rows; the trailer `x-tollgate-cut` states whether more rows matched. If the connection is aborted, the file is incomplete.',
    query: z.strictObject({
      ...clientFilterParameters,
      from: moment('first moment').optional().describe('Only requests from this time on.'),
      to: moment('end').optional().describe('Only requests before this time. A date includes the whole day.'),
      format: formatParameter(['csv', 'ndjson']).default('csv'),
      columns: columnsParameter(columns.map(({ name }) => name)).optional(),
      sort: oneOfWords(['-created_at', 'created_at']).default('-created_at'),
    }),
    media: 'text/csv',
    async handle({ stage, response, query, signal }) {
      const { from, to, format, sort } = query
      if (from !== undefined && to !== undefined && from >= to)
        throw invalid('to', 'expected a time after "from"')
      const scope = rowScopeOf(stage.identity)
      const filter = inScope(filterFrom({ ...query }), scope)
      const chosen =
        query.columns?.flatMap((name) => columns.filter((column) => column.name === name)) ??
        columns.filter(({ isDefault }) => isDefault)
      const order = sort === '-created_at' ? ('newest' as const) : ('oldest' as const)
      const end = context.exports.begin(`tenant ${scope.tenantId}`)
      try {
        await context.shipNow()
        const ask = askOf(database, scope)
        const terms = { withinMs: bounds.logQueryMs, signal }
        const span = await spanOf(ask, clock, filter, { from, to }, terms)
        const walk = { clock, ...span, filter, order, rowsMax: batchRows, signal }
        await sendExport(response, valuesOf(ask, walk, chosen, context.showsRouting), {
          ...{ format, columns: chosen, name: 'usage', signal },
          ...{ rowsMax: bounds.exportRowsMax, stallMs: bounds.clientStallMs },
        })
      } catch (error) {
        if (!response.headersSent) throw error
        response.destroy()
      } finally {
        end()
      }
      return undefined
    },
  })
}

const batchRows = 1_000

async function* valuesOf(
  ask: AskLog,
  walk: Parameters<typeof walkRequests>[1],
  chosen: readonly (typeof columns)[number][],
  showsRouting: boolean,
): AsyncGenerator<unknown[][]> {
  for await (const { rows } of walkRequests(ask, walk)) {
    const shown = showsRouting ? rows : rows.map(withoutChannel)
    yield shown.map((row) => chosen.map(({ name }) => valueIn(row, name)))
  }
}

function askOf(database: Pick<Database, 'log'>, { tenantId }: RowScope): AskLog {
  return askLogFor(database, `tenant ${tenantId}`, away)
}

async function spanOf(
  ask: AskLog,
  clock: Clock,
  filter: LogFilter,
  { from, to }: Span,
  terms: { withinMs: number; signal: AbortSignal },
): Promise<{ from: Date; to: Date }> {
  const kept = await ask((sql) => logSpan(sql, filter, clock.now()), terms)
  const begin = from === undefined || from < kept.from ? kept.from : from
  const end = to === undefined || to > kept.to ? kept.to : to
  return begin < end ? { from: begin, to: end } : { from: end, to: end }
}
