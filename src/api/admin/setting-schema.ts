import { z } from 'zod'
import type { BudgetColumns, LimitColumns } from '../../catalog/limit-columns.ts'
import { usd } from '../../ledger/price.ts'
import { oneOfWords, text } from '../parameter.ts'

// Settings that several resources show, and filters that several lists have.

const bound = z.int().nullable().describe('Null: unbounded.')

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

const most = z.string().nullable().describe('USD, an exact decimal; null: unbounded.')

export const budgetShown = z
  .object({ day: most, month: most, total: most })
  .nullable()
  .describe('The most that may be spent in a day, in a month (UTC) and in total; null: no budget.')

export function budgetJson(row: BudgetColumns): z.output<typeof budgetShown> {
  const { budgetDay: day, budgetMonth: month, budgetTotal: total } = row
  if (day === null && month === null && total === null) return null
  const shown = (nano: bigint | null) => (nano === null ? null : usd(nano))
  return { day: shown(day), month: shown(month), total: shown(total) }
}

/** A new budget sums up what was spent: see count_new_budgets. */
export const budgetMs = 30_000

export const keepingShown = z.object({
  store: z.boolean(),
  days: z.int().optional().describe('For how many days. Absent: none is kept.'),
})

/** `days`: 0 for nothing. */
export function keepingJson(days: number): z.output<typeof keepingShown> {
  return days === 0 ? { store: false } : { store: true, days }
}

export const managedByShown = z
  .enum(['file', 'admin'])
  .describe('`file`: gateway.yaml has it, and only a change there can change it.')

export const nameFilters = {
  name: text.optional().describe('The whole name.'),
  search: text.optional().describe('A part of the name, in small or capital letters.'),
  managed_by: oneOfWords(['file', 'admin']).optional(),
}

export const yesOrNo = oneOfWords(['true', 'false']).transform((word) => word === 'true')

/** Of a resource with an id and a name of its own. */
export const calledParams = z.object({ id: text.describe('Its id, or its name.') })

export const deletedAnswer = z.object({ id: z.uuid(), deleted: z.literal(true) }).meta({ id: 'Deleted' })
