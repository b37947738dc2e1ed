import { z } from 'zod'
import type { BudgetColumns, LimitColumns } from '../../catalog/limit-columns.ts'
import { usd } from '../../money/price.ts'
import { oneOfWords, text } from '../parameter.ts'

// Settings that several resources show, and filters that several lists have.

const bound = z.int().nullable().describe('Null if there is no limit.')

export const limitsShown = z.object({
  requests_per_minute: bound,
  tokens_per_minute: bound,
  concurrency: bound,
})

export function limitsJson(row: LimitColumns): z.output<typeof limitsShown> {
  return {
    requests_per_minute: row.requestsPerMinute,
    tokens_per_minute: row.tokensPerMinute,
    concurrency: row.concurrency,
  }
}

const most = z.string().nullable().describe('USD as an exact decimal. Null if there is no limit.')

export const budgetShown = z
  .object({ day: most, month: most, total: most })
  .nullable()
  .describe(
    'The maximum that can be spent per day, per month (UTC) and in total. Null if there is no budget.',
  )

export function budgetJson(row: BudgetColumns): z.output<typeof budgetShown> {
  const { budgetDay: day, budgetMonth: month, budgetTotal: total } = row
  if (day === null && month === null && total === null) return null
  const shown = (nano: bigint | null) => (nano === null ? null : usd(nano))
  return { day: shown(day), month: shown(month), total: shown(total) }
}

/** For a new budget, what has already been spent is added up; see count_new_budgets. */
export const budgetMs = 30_000

export const keepingShown = z.object({
  store: z.boolean(),
  days: z
    .int()
    .optional()
    .describe('The number of days for which answers are kept. Absent if none are kept.'),
})

/** `days` is 0 if nothing is kept. */
export function keepingJson(days: number): z.output<typeof keepingShown> {
  return days === 0 ? { store: false } : { store: true, days }
}

export const managedByShown = z
  .enum(['file', 'admin'])
  .describe('`file`: managed by gateway.yaml and can only be changed there.')

export const nameFilters = {
  name: text.optional().describe('The exact name.'),
  search: text.optional().describe('Part of the name, case-insensitive.'),
  managed_by: oneOfWords(['file', 'admin']).optional(),
}

export const yesOrNo = oneOfWords(['true', 'false']).transform((word) => word === 'true')

/** The path of a resource with an id and a name of its own. */
export const calledParams = z.object({ id: text.describe('The id or the name of the resource.') })

export const deletedAnswer = z.object({ id: z.uuid(), deleted: z.literal(true) }).meta({ id: 'Deleted' })
