import { z } from 'zod'
import type { ColumnKind } from '../../journal/column.ts'
import { requestColumns, valueIn } from '../../journal/row.ts'
import { type NamesOf, namesFor } from '../../usage/log/names-queries.ts'
import type { LogRow } from '../../usage/log/row-tests.ts'
import type { RunningExports } from '../../usage/log/running-exports.ts'
import { type AskLog, type Walk, walkRequests } from '../../usage/log/walk.ts'
import { exportFormats } from '../export/formats.ts'
import { sendExport } from '../export/send-export.ts'
import { columnsParameter, formatParameter } from '../export-parameters.ts'
import { filterParameters } from '../log-filter.ts'
import { oneOfWords } from '../parameter.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { beginWalk, logTimes, requireOrder, type WalkContext } from './log-walk.ts'
import { seesRouting } from './permit.ts'

export interface RequestExportContext extends Omit<WalkContext, 'bounds'> {
  bounds: WalkContext['bounds'] & { exportRowsMax: number; clientStallMs: number }
  exports: RunningExports
}

/** A column of the file, and its value in a row. */
export interface LogExportColumn {
  name: string
  kind: ColumnKind
  /** Whether the file contains the column if the client has not chosen columns. */
  isDefault: boolean
  of(row: LogRow, names: NamesOf): unknown
}

const nameColumn = (kind: 'tenant' | 'key' | 'group'): LogExportColumn => ({
  name: kind,
  kind: 'text',
  isDefault: true,
  of: (row, names) => names.of(kind, row[`${kind}_id`], row.created_at),
})

/** The names at the time of the request, and all columns of the usage log. */
export const logExportColumns: readonly LogExportColumn[] = [
  ...requestColumns.flatMap(({ name, kind, shown }): LogExportColumn[] => {
    const column: LogExportColumn = {
      name,
      kind,
      isDefault: shown === 'list' || name === 'client_address' || name === 'user_agent',
      of: (row) => valueIn(row, name),
    }
    return name === 'created_at'
      ? [column, nameColumn('tenant'), nameColumn('key'), nameColumn('group')]
      : [column]
  }),
]

const known = logExportColumns.map(({ name }) => name)

/** Exports the matching rows as a file. */
export function adminExportEndpoint(context: RequestExportContext): AdminEndpoint {
  const { exportRowsMax: rowsMax, clientStallMs: stallMs } = context.bounds
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/requests/export',
    area: 'log',
    tenants: 'own',
    summary: 'Export the matching requests as CSV, NDJSON or Parquet',
    description:
      'The file is sent while it is being read, newest rows first by default. It contains at most EXPORT_ROWS_MAX rows; the trailer `x-tollgate-cut` states whether more rows matched. If the connection is aborted, the file is incomplete.',
    query: z.strictObject({
      ...filterParameters,
      ...logTimes,
      format: formatParameter(exportFormats).default('csv'),
      columns: columnsParameter(known).optional(),
      sort: oneOfWords(['-created_at', 'created_at']).default('-created_at'),
    }),
    media: 'text/csv',
    async handle({ actor, query, response, signal }) {
      requireOrder(query)
      const { format, sort } = query
      const columns = chosen(logExportColumns, query.columns)
      const end = context.exports.begin(`admin ${actor.id ?? 'operator'}`)
      try {
        const { ask, ...walk } = await beginWalk(context, actor, query, signal)
        const order = sort === '-created_at' ? 'newest' : 'oldest'
        const shown = columns.filter(({ name }) => name !== 'channel' || seesRouting(context, actor))
        const batches = exportBatches(ask, { ...walk, order, rowsMax: batchRows }, shown)
        await sendExport(response, batches, {
          format,
          columns: shown,
          name: 'requests',
          rowsMax,
          stallMs,
          signal,
        })
      } finally {
        end()
      }
      return undefined
    },
  })
}

/** The number of rows in memory at a time. */
export const batchRows = 1_000
const namesMs = 5_000

export function chosen<Column extends { name: string; isDefault: boolean }>(
  all: readonly Column[],
  names: readonly string[] | undefined,
): Column[] {
  if (names === undefined) return all.filter(({ isDefault }) => isDefault)
  return names.flatMap((name) => all.filter((column) => column.name === name))
}

/** Yields the values of the columns, batch by batch. */
export async function* exportBatches(
  ask: AskLog,
  walk: Walk,
  columns: readonly LogExportColumn[],
): AsyncGenerator<unknown[][]> {
  for await (const { rows } of walkRequests(ask, walk)) {
    const terms = { withinMs: namesMs, signal: walk.signal }
    const names = rows.length === 0 ? undefined : await ask((sql) => namesFor(sql, rows), terms)
    yield names === undefined ? [] : rows.map((row) => columns.map((column) => column.of(row, names)))
  }
}
