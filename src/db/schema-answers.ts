import { boolean, pgTable, primaryKey, text, uuid } from './drizzle.cjs'
import { moment } from './schema-types.ts'

/**
 * The answers that clients got, redacted, where a key or its group asks for them. STORAGE EXTERNAL, with
 * partitions by day and a retention of its own. An answer may come before the row of its request, after it,
 * or never.
 */
export const requestAnswers = pgTable(
  'request_answers',
  {
    requestId: uuid('request_id').notNull(),
    createdAt: moment('created_at').notNull(),
    capture: text('capture').notNull(),
    /** True: a part of what the client got is missing. */
    truncated: boolean('truncated').notNull(),
    answer: text('answer').notNull(),
  },
  (t) => [primaryKey({ columns: [t.requestId, t.createdAt] })],
)
