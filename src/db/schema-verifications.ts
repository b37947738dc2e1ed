import { bigint, boolean, integer, jsonb, pgTable, text, uuid } from './drizzle.cjs'
import { moment } from './schema-types.ts'

/**
 * The verification of the ledger that an admin has started last: one row at most, so that one runs at a time.
 */
export const ledgerVerifications = pgTable('ledger_verifications', {
  /** True in the one row. */
  only: boolean('only').primaryKey(),
  id: uuid('id').notNull(),
  state: text('state', { enum: ['running', 'ended', 'cancelled', 'failed'] }).notNull(),
  /** The first day that is looked at; NULL: all are. */
  since: text('since'),
  startedBy: text('started_by').notNull(),
  startedAt: moment('started_at').notNull(),
  /** The last sign of the process that runs it. */
  seenAt: moment('seen_at').notNull(),
  endedAt: moment('ended_at'),
  /** Somebody wants it to end. */
  isUnwanted: boolean('is_unwanted').notNull(),
  stepsDone: integer('steps_done').notNull(),
  /** 0: not counted yet. */
  steps: integer('steps').notNull(),
  /** The rule that is checked now. */
  doing: text('doing'),
  /** What was found, rule by rule; NULL: it has not ended. */
  findings: jsonb('findings').$type<{ rule: string; differences: number; samples: string[] }[]>(),
  requests: bigint('requests', { mode: 'number' }),
  orphaned: bigint('orphaned', { mode: 'number' }),
  /** Why it failed. */
  error: text('error'),
})
