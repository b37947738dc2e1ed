import {
  bigint,
  boolean,
  date,
  index,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from './drizzle.cjs'
import { bytea, moment } from './schema-types.ts'

/**
 * Jobs that remove the content, or the rows, of a tenant or of one of its end users. One works at a time, the
 * oldest first.
 */
export const erasures = pgTable(
  'erasures',
  {
    id: uuid('id').primaryKey(),
    tenantId: uuid('tenant_id').notNull(),
    /** NULL: all of the tenant, or the job has ended, which removes the name here too. */
    endUser: text('end_user'),
    /** SHA-256 of the end user; NULL: all of the tenant. */
    endUserHash: bytea('end_user_hash'),
    what: text('what', { enum: ['content', 'rows'] }).notNull(),
    /** Inclusive; NULL: from the first row on. */
    fromAt: moment('from_at'),
    /** Exclusive. */
    toAt: moment('to_at').notNull(),
    /** True: it counts, and changes nothing. */
    dryRun: boolean('dry_run').notNull(),
    /** `waiting`: for requests and shipments; `waitsFor` says for which. */
    state: text('state', { enum: ['queued', 'running', 'waiting', 'succeeded', 'cancelled'] }).notNull(),
    /** Who asked for it. */
    actor: text('actor').notNull(),
    createdAt: moment('created_at').notNull(),
    startedAt: moment('started_at'),
    endedAt: moment('ended_at'),
    /** Until then one process works on it. */
    leasedUntil: moment('leased_until'),
    /** Each lease raises it: a process with an older one stops. */
    fence: bigint('fence', { mode: 'number' }).notNull().default(0),
    /** Passes over the rows that have ended. The last one found nothing. */
    passes: smallint('passes').notNull().default(0),
    /**
     * The place of the pass: a partition, and the last row of it that was looked at. NULL: the pass has not
     * begun.
     */
    placeTable: text('place_table'),
    placeAt: moment('place_at'),
    placeId: uuid('place_id'),
    /** Counts by place. The transaction that removes something counts it here. */
    counts: jsonb('counts').$type<Record<string, number>>().notNull(),
    /** Counts at the end of the pass before; NULL: no pass has ended. */
    countsBefore: jsonb('counts_before').$type<Record<string, number>>(),
    waitsFor: text('waits_for'),
    /** Why it could not go on; it tries again. */
    error: text('error'),
    /** What it could not reach, for the report. */
    notReached: jsonb('not_reached').$type<string[]>().notNull(),
  },
  (t) => [index('erasures_created_at').on(t.createdAt)],
)

/**
 * The sums of rows of the usage log that were deleted while their day is kept: by an erasure, or because
 * their tenant keeps rows for fewer days. Sums and charges of such days still add up. In the shape of
 * `rollup_deltas`; rows of older days are summed by hour.
 */
export const deletedSums = pgTable(
  'deleted_sums',
  {
    minute: moment('minute').notNull(),
    tenantId: uuid('tenant_id'),
    keyId: uuid('key_id'),
    groupId: uuid('group_id'),
    model: text('model'),
    channel: text('channel'),
    outcome: text('outcome').notNull(),
    rows: bigint('rows', { mode: 'bigint' }).notNull(),
    requests: bigint('requests', { mode: 'bigint' }).notNull(),
    inputTokens: bigint('input_tokens', { mode: 'bigint' }).notNull(),
    cacheReadTokens: bigint('cache_read_tokens', { mode: 'bigint' }).notNull(),
    cacheWriteTokens: bigint('cache_write_tokens', { mode: 'bigint' }).notNull(),
    outputTokens: bigint('output_tokens', { mode: 'bigint' }).notNull(),
    reasoningTokens: bigint('reasoning_tokens', { mode: 'bigint' }).notNull(),
    images: bigint('images', { mode: 'bigint' }).notNull(),
    cost: numeric('cost_nano').notNull(),
    unpriced: bigint('unpriced', { mode: 'bigint' }).notNull(),
    totalLatency: numeric('total_latency').notNull(),
    firstTokenLatency: numeric('first_token_latency').notNull(),
    uncharged: numeric('uncharged_nano').notNull().default('0'),
  },
  (t) => [index('deleted_sums_minute').on(t.minute)],
)

/** How far the days of tenants with a retention of their own are swept, in Postgres and in the archive. */
export const tenantSweeps = pgTable(
  'tenant_sweeps',
  {
    tenantId: uuid('tenant_id').notNull(),
    kind: text('kind', {
      enum: ['rows', 'bodies', 'answers', 'archived_rows', 'archived_bodies', 'archived_answers'],
    }).notNull(),
    /** This day and all before it are done. */
    through: date('through').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.kind] })],
)
