import { bigint, index, pgTable, uuid } from './drizzle.cjs'
import { moment } from './schema-types.ts'

/**
 * Rows of the usage log that were written more than a day after the day on which their request began, for an hour: tails find
 * them here. The transaction that writes such a row adds it, by a trigger of `requests`.
 */
export const lateRequests = pgTable(
  'late_requests',
  {
    id: uuid('id').notNull(),
    createdAt: moment('created_at').notNull(),
    /** Its number, of 64 bits. */
    transaction: bigint('transaction', { mode: 'bigint' }).notNull(),
    writtenAt: moment('written_at').notNull(),
  },
  (t) => [index('late_requests_transaction').on(t.transaction)],
)
