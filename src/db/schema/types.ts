import { bigint, customType, integer, text, timestamp } from '../drizzle.cjs'

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
export const nano = (name: string) => bigint(name, { mode: 'bigint' })
export const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 })

/**
 * Who manages a row. `file`: the row comes from gateway.yaml, and is disabled when it is removed from the
 * file.
 */
export const managedBy = () => text('managed_by', { enum: ['file', 'admin'] }).notNull()

/** Rate limits; NULL: unlimited. */
export const limits = () => ({
  requestsPerMinute: integer('requests_per_minute'),
  tokensPerMinute: integer('tokens_per_minute'),
  concurrency: integer('concurrency'),
})

/** The maximum spending per day, per month (UTC) and in total, in nano-USD; NULL: unlimited. */
export const budgetColumns = () => ({
  budgetDay: nano('budget_day_nano'),
  budgetMonth: nano('budget_month_nano'),
  budgetTotal: nano('budget_total_nano'),
})
