import { bigint, date, index, numeric, pgTable, text, unique, uuid } from './drizzle.cjs'
import { moment } from './schema-types.ts'

/** The parts by which the usage log is summed. NULL: the request has none. */
const parts = () => ({
  tenantId: uuid('tenant_id'),
  keyId: uuid('key_id'),
  groupId: uuid('group_id'),
  /** As requested; NULL where no such model was found, because clients may invent any number of names. */
  model: text('model'),
  channel: text('channel'),
  outcome: text('outcome').notNull(),
})

const count = (name: string) => bigint(name, { mode: 'bigint' }).notNull()

/**
 * Sums of requests. A histogram is one number: the count of bucket b stands in its 12 decimal digits from
 * 10^(12 b) on.
 */
const sums = () => ({
  /** Rows of the usage log. */
  rows: count('rows'),
  /** Requests: a row may stand for many refused ones. */
  requests: count('requests'),
  inputTokens: count('input_tokens'),
  cacheReadTokens: count('cache_read_tokens'),
  cacheWriteTokens: count('cache_write_tokens'),
  outputTokens: count('output_tokens'),
  reasoningTokens: count('reasoning_tokens'),
  images: count('images'),
  /** Of the requests whose cost is known. */
  cost: numeric('cost_nano').notNull(),
  /** Requests whose cost is not known. */
  unpriced: count('unpriced'),
  totalLatency: numeric('total_latency').notNull(),
  firstTokenLatency: numeric('first_token_latency').notNull(),
  /** The part of the cost that was not charged, because no more was held. */
  uncharged: numeric('uncharged_nano').notNull().default('0'),
})

/**
 * What rows of the usage log add to the sums. The transaction that writes the rows appends it, by a trigger
 * of `requests`; fold_rollups takes it away. Without an index, and in no order. Sums of deleted rows are
 * negative.
 */
export const rollupDeltas = pgTable('rollup_deltas', {
  minute: moment('minute').notNull(),
  ...parts(),
  ...sums(),
})

/** Sums by minute, for two days. */
export const rollupMinutes = pgTable(
  'rollup_minutes',
  {
    minute: moment('minute').notNull(),
    channel: text('channel'),
    outcome: text('outcome').notNull(),
    ...sums(),
  },
  (t) => [unique('rollup_minutes_parts').on(t.minute, t.channel, t.outcome).nullsNotDistinct()],
)

/** Sums by hour and all parts. */
export const rollupHours = pgTable(
  'rollup_hours',
  { hour: moment('hour').notNull(), ...parts(), ...sums() },
  (t) => [
    unique('rollup_hours_parts')
      .on(t.hour, t.tenantId, t.keyId, t.groupId, t.model, t.channel, t.outcome)
      .nullsNotDistinct(),
    index('rollup_hours_tenant').on(t.tenantId, t.hour),
  ],
)

/** Sums by day (UTC) and a few parts, for ever. The parts that its `cut` does not name are NULL. */
export const rollupDays = pgTable(
  'rollup_days',
  {
    day: moment('day').notNull(),
    /** `tenant_model` has both; `key` has the tenant too. All have the outcome. */
    cut: text('cut', { enum: ['tenant', 'tenant_model', 'key', 'group', 'model', 'channel'] }).notNull(),
    ...parts(),
    ...sums(),
  },
  (t) => [
    unique('rollup_days_parts')
      .on(t.cut, t.day, t.tenantId, t.keyId, t.groupId, t.model, t.channel, t.outcome)
      .nullsNotDistinct(),
  ],
)

/**
 * Sums by month (UTC) for the cuts of `rollup_days` that have one part: a year of them is read in a moment.
 * The cuts of two parts would be as many upserts again.
 */
export const rollupMonths = pgTable(
  'rollup_months',
  {
    month: moment('month').notNull(),
    cut: text('cut', { enum: ['tenant', 'group', 'model', 'channel'] }).notNull(),
    tenantId: uuid('tenant_id'),
    groupId: uuid('group_id'),
    model: text('model'),
    channel: text('channel'),
    outcome: text('outcome').notNull(),
    ...sums(),
  },
  (t) => [
    unique('rollup_months_parts')
      .on(t.cut, t.month, t.tenantId, t.groupId, t.model, t.channel, t.outcome)
      .nullsNotDistinct(),
  ],
)

/**
 * Days whose rows were there before the sums, and that the upkeep has not counted yet. Their deltas do not
 * count.
 */
export const rollupBackfill = pgTable('rollup_backfill', { day: date('day').primaryKey() })
