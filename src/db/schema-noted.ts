import { bigint, boolean, index, pgTable, uuid } from './drizzle.cjs'
import { moment } from './schema-types.ts'

/**
 * Rows of the usage log that were just written, for tails: those that came more than a day after the day on
 * which their request began, and all while a tail is open. The transaction that writes a row notes it here,
 * by a trigger of `requests`.
 */
export const notedRequests = pgTable(
  'noted_requests',
  {
    id: uuid('id').notNull(),
    createdAt: moment('created_at').notNull(),
    /** Its number, of 64 bits. */
    transaction: bigint('transaction', { mode: 'bigint' }).notNull(),
    writtenAt: moment('written_at').notNull(),
  },
  (t) => [index('noted_requests_transaction').on(t.transaction)],
)

/** One row: until when tails want all new rows noted. */
export const tailWatch = pgTable('tail_watch', {
  one: boolean('one').primaryKey(),
  until: moment('until').notNull(),
})
