import { z } from 'zod'
import { invalid } from '../../canonical/field-error.ts'
import { type LogSum, type LogSumPart, logSumParts, sumLog, TooManyGroups } from '../../usage/log/log-sums.ts'
import { currentNames } from '../../usage/log/names-queries.ts'
import { sendExport } from '../export/send-export.ts'
import { filterParameters } from '../log-filter.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { beginWalk, logTimes, requireOrder } from './log-walk.ts'
import { requireRouting } from './permit.ts'
import type { RequestExportContext } from './request-export.ts'
import { batchesOf, exportGroupsMax, sumsColumns } from './summary-csv.ts'
import { listOf } from './summary-query.ts'

/** Sums of the rows themselves, by what the stored sums do not have. */
export function adminRequestSumsEndpoint(context: RequestExportContext): AdminEndpoint {
  const { exports, bounds } = context
  const rowsMax = Math.min(bounds.exportRowsMax, exportGroupsMax)
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/requests/sums/export',
    area: 'log',
    tenants: 'own',
    summary: 'Export totals of the matching requests as CSV, grouped as requested',
    description:
      'All matching rows are read. More groups than EXPORT_ROWS_MAX or 100,000 get a 400. A request with several tags is part of the totals of each.',
    query: z.strictObject({
      ...filterParameters,
      ...logTimes,
      group_by: listOf(Object.keys(partOf))
        .default(['day'])
        .describe(
          'A comma-separated list of any of day (UTC), tenant, key, group, model (as requested), channel, end_user, session and tag. Default: day.',
        ),
    }),
    media: 'text/csv',
    async handle({ actor, query, response, signal }) {
      requireOrder(query)
      const { group_by: names, ...filters } = query
      if (names.includes('channel')) requireRouting(context, actor)
      const parts = logSumParts.filter((part) => names.some((name) => partOf[name] === part))
      const end = exports.begin(`admin ${actor.id ?? 'operator'}`)
      try {
        const { ask, ...walk } = await beginWalk(context, actor, filters, signal)
        const groups = await sumLog(ask, walk, { parts, groupsMax: rowsMax }).catch((error: unknown) => {
          if (!(error instanceof TooManyGroups)) throw error
          throw invalid(
            'group_by',
            `expected at most ${rowsMax} groups; choose a shorter period or fewer parts`,
          )
        })
        const named = parts.filter((part) => part.endsWith('_id'))
        const ids = new Set(named.flatMap((part) => groups.flatMap((group) => group[part] ?? [])))
        const nameOf = await ask((sql) => currentNames(sql, [...ids]), { withinMs: namesMs, signal })
        const columns = sumsColumns(
          parts.flatMap((part) => (part.endsWith('_id') ? [part.slice(0, -3), part] : [part])),
        )
        const rowOf = (group: LogSum) => {
          const ofIds = named.map((part) => [part.slice(0, -3), nameOf.get(group[part] ?? '') ?? null])
          const keys = { ...group, ...Object.fromEntries(ofIds) }
          return columns.map(({ of }) => of(keys, group))
        }
        await sendExport(response, batchesOf(groups, rowOf), {
          ...{ columns, rowsMax, stallMs: bounds.clientStallMs, signal },
          format: 'csv',
          name: ['sums', ...names].join('-'),
        })
      } finally {
        end()
      }
      return undefined
    },
  })
}

const namesMs = 5_000

/** The parts by their words in `group_by`, which are those of the stored sums. */
const partOf: Readonly<Record<string, LogSumPart>> = Object.fromEntries(
  logSumParts.map((part) => [part.replace(/_id$/, ''), part]),
)
