import { bigint, customType, integer, text, timestamp } from '../drizzle.cjs'

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
export const nano = (name: string) => bigint(name, { mode: 'bigint' })
export const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 })

/** The editor of a row. `file`: gateway.yaml has the row, and it is disabled when it leaves the file. */
export const managedBy = () => text('managed_by', { enum: ['file', 'admin'] }).notNull()

/** Rate limits; NULL: unbounded. */
export const limits = () => ({
  requestsPerMinute: integer('requests_per_minute'),
  tokensPerMinute: integer('tokens_per_minute'),
  concurrency: integer('concurrency'),
})

/** The most that may be spent in a day, in a month (UTC) and in total, in nano-USD; NULL: unbounded. */
export const budgetColumns = () => ({
  budgetDay: nano('budget_day_nano'),
  budgetMonth: nano('budget_month_nano'),
  budgetTotal: nano('budget_total_nano'),
})
