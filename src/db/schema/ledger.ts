import {
  bigint,
  boolean,
  date,
  index,
  integer,
  numeric,
  pgTable,
  pgView,
  primaryKey,
  smallint,
  sql,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from '../drizzle.cjs'
import { bytea, moment, nano } from './types.ts'

/**
 * The usage log: one row per client call, append-only. The migration creates RANGE partitions by day on
 * created_at, and a default one. `created_at` is the millisecond inside the uuidv7 `id`, so an id alone
 * identifies its partition. journal/row.ts documents the meaning, limit and source of each column.
 */
export const requests = pgTable(
  'requests',
  {
    id: uuid('id').notNull(),
    createdAt: moment('created_at').notNull(),
    tenantId: uuid('tenant_id'),
    keyId: uuid('key_id'),
    groupId: uuid('group_id'),
    endpoint: text('endpoint').notNull(),
    clientProtocol: text('client_protocol'),
    upstreamProtocol: text('upstream_protocol'),
    requestedModel: text('requested_model'),
    servedModel: text('served_model'),
    channel: text('channel'),
    stream: boolean('stream').notNull(),
    status: smallint('status').notNull(),
    outcome: text('outcome').notNull(),
    errorKind: text('error_kind'),
    errorReason: text('error_reason'),
    errorMessage: text('error_message'),
    errorUpstreamStatus: smallint('error_upstream_status'),
    finishReason: text('finish_reason'),
    inputTokens: integer('input_tokens'),
    cacheReadTokens: integer('cache_read_tokens'),
    cacheWriteTokens: integer('cache_write_tokens'),
    outputTokens: integer('output_tokens'),
    reasoningTokens: integer('reasoning_tokens'),
    usageSource: text('usage_source').notNull(),
    streamEnd: text('stream_end'),
    /** NULL: unknown. */
    cost: nano('cost_nano'),
    priceId: uuid('price_id'),
    priceMultiplier: text('price_multiplier'),
    queueMs: integer('queue_ms'),
    firstTokenMs: integer('first_token_ms'),
    totalMs: integer('total_ms'),
    attemptCount: smallint('attempt_count').notNull(),
    /**
     * JSON text of TranslationNote[]. Stored as text because jsonb rejects escaped NUL and lone surrogates.
     */
    notes: text('notes'),
    clientAddress: text('client_address'),
    userAgent: text('user_agent'),
    upstreamRequestId: text('upstream_request_id'),
    idempotencyKey: text('idempotency_key'),
    /** If more than 1, the row represents this number of refused calls by one caller. */
    folded: integer('folded').notNull().default(1),
    /** Images delivered; NULL: not an image request. */
    images: smallint('images'),
    endUser: text('end_user'),
    session: text('session'),
    /** NULL: none. A trigger copies each tag to request_tags. */
    tags: text('tags').array(),
    /** JSON text of CostFact[]; NULL: none. */
    costFacts: text('cost_facts'),
    /** NULL in rows from before the column existed: the charge then equals the cost. */
    charged: nano('charged_nano'),
  },
  (t) => [
    primaryKey({ columns: [t.id, t.createdAt] }),
    // Includes the key so that, for a key that sees only its own rows, the index alone skips the rows of
    // other keys.
    index('requests_tenant').on(t.tenantId, t.createdAt, t.keyId),
    // One for each filter of the usage log, in list order. The partial indexes omit the most frequent value.
    index('requests_model').on(t.tenantId, t.requestedModel, t.createdAt),
    index('requests_served_model')
      .on(t.tenantId, t.servedModel, t.createdAt)
      .where(sql`${t.servedModel} <> ${t.requestedModel}`),
    index('requests_unusual')
      .on(t.tenantId, t.createdAt, t.status, t.outcome, t.requestedModel, t.servedModel, t.keyId)
      .where(sql`${t.outcome} <> 'succeeded' or ${t.status} <> 200`),
    index('requests_endpoint')
      .on(t.tenantId, t.endpoint, t.createdAt)
      .where(sql`${t.endpoint} <> '/v1/chat/completions'`),
    index('requests_end_user').on(t.tenantId, t.endUser, t.createdAt).where(sql`${t.endUser} is not null`),
    index('requests_session').on(t.tenantId, t.session, t.createdAt).where(sql`${t.session} is not null`),
  ],
)

/**
 * The tags of requests in list order, which an index on an array cannot provide. A trigger of `requests`
 * writes it. Partitioned by day, like `requests`.
 */
export const requestTags = pgTable(
  'request_tags',
  {
    tenantId: uuid('tenant_id').notNull(),
    tag: text('tag').notNull(),
    createdAt: moment('created_at').notNull(),
    requestId: uuid('request_id').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.tag, t.createdAt, t.requestId] })],
)

/**
 * Redacted bodies, kept separate from the rows that people page through. STORAGE EXTERNAL, with its own
 * partitions and retention.
 */
export const requestPayloads = pgTable(
  'request_payloads',
  {
    requestId: uuid('request_id').notNull(),
    createdAt: moment('created_at').notNull(),
    capture: text('capture').notNull(),
    body: text('body').notNull(),
  },
  (t) => [primaryKey({ columns: [t.requestId, t.createdAt] })],
)

/** The upstream calls of a request and the candidates passed over, in order. Also partitioned by day. */
export const attempts = pgTable(
  'attempts',
  {
    requestId: uuid('request_id').notNull(),
    createdAt: moment('created_at').notNull(),
    ordinal: smallint('ordinal').notNull(),
    channel: text('channel').notNull(),
    upstreamProtocol: text('upstream_protocol'),
    upstreamModel: text('upstream_model'),
    /** Why it was chosen or passed over. */
    reason: text('reason').notNull(),
    /** Whether the candidate was passed over without being called. */
    passedOver: boolean('passed_over').notNull().default(false),
    status: smallint('status'),
    errorKind: text('error_kind'),
    errorMessage: text('error_message'),
    firstByteMs: integer('first_byte_ms'),
    totalMs: integer('total_ms'),
    upstreamRequestId: text('upstream_request_id'),
    /** The name of the channel's credential; NULL: none was used, or it was not recorded. */
    credential: text('credential'),
  },
  (t) => [primaryKey({ columns: [t.requestId, t.createdAt, t.ordinal] })],
)

/**
 * Immutable money movements. A charge has the id and the time of its request, so it cannot be booked twice.
 * The upkeep moves the table into RANGE partitions by month on created_at, and a default one; each has `id`
 * as its own primary key, and the index from money/entry-indexes.ts.
 */
export const entries = pgTable('entries', {
  id: uuid('id').primaryKey(),
  accountId: uuid('account_id').notNull(),
  createdAt: moment('created_at').notNull(),
  kind: text('kind', { enum: ['opening', 'top_up', 'adjustment', 'charge'] }).notNull(),
  /** Nano-USD. A negative amount is taken from the account. */
  amount: nano('amount_nano').notNull(),
  /** The operator's reason; NULL for charges and openings. */
  note: text('note'),
})

/** The monthly partitions of `entries`, without gaps. The first one also covers all earlier months. */
export const entryMonths = pgTable('entry_months', {
  /** The first day of the month; if the partition covers several months, of the last one. */
  month: date('month').primaryKey(),
  /** The name of the partition. */
  partition: text('partition').notNull(),
  /** `-infinity` for the first partition. */
  startsAt: timestamp('starts_at', { withTimezone: true, mode: 'string' }).notNull(),
  endsAt: timestamp('ends_at', { withTimezone: true, mode: 'string' }).notNull(),
  /** When its checkpoints became complete; NULL: the month is open. Months are closed in order. */
  closedAt: moment('closed_at'),
  /** When its charges were deleted; NULL: it still has all its entries. */
  prunedAt: moment('pruned_at'),
})

/**
 * Sums of an account's entries in a month. The checkpoint is the sum of its rows, because each late entry
 * adds one. Rows of an open month do not count.
 */
export const entryCheckpoints = pgTable(
  'entry_checkpoints',
  {
    month: date('month').notNull(),
    accountId: uuid('account_id').notNull(),
    sum: nano('sum_nano').notNull(),
    /** The number of entries. */
    entries: bigint('entries', { mode: 'number' }).notNull(),
  },
  (t) => [index('entry_checkpoints_account').on(t.month, t.accountId)],
)

/**
 * The money that a key, group or tenant with a budget has spent in a period, and the money held for its
 * running requests.
 */
export const budgetPeriods = pgTable(
  'budget_periods',
  {
    id: uuid('id').primaryKey().default(sql`gen_random_uuid()`),
    /** The id of a key, group or tenant. */
    ownerId: uuid('owner_id').notNull(),
    period: text('period', { enum: ['day', 'month', 'total'] }).notNull(),
    /** Midnight UTC of the period's first day; the epoch for `total`. */
    startsAt: moment('starts_at').notNull(),
    spent: nano('spent_nano').notNull().default(sql`0`),
    reserved: nano('reserved_nano').notNull().default(sql`0`),
  },
  (t) => [uniqueIndex('budget_periods_owner').on(t.ownerId, t.period, t.startsAt)],
)

/** The current budgets of keys, groups and tenants. The view is created by a migration. */
export const budgets = pgView('budgets', {
  ownerId: uuid('owner_id').notNull(),
  owner: text('owner', { enum: ['key', 'group', 'tenant'] }).notNull(),
  period: text('period', { enum: ['day', 'month', 'total'] }).notNull(),
  limit: nano('limit_nano').notNull(),
}).existing()

/** Money held for a running request. */
export const reservations = pgTable(
  'reservations',
  {
    requestId: uuid('request_id').primaryKey(),
    accountId: uuid('account_id').notNull(),
    instanceId: uuid('instance_id').notNull(),
    amount: nano('amount_nano').notNull(),
    /** The budget periods in which the money is also held. */
    budgetPeriodIds: uuid('budget_period_ids').array().notNull().default(sql`'{}'`),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [index('reservations_instance').on(t.instanceId)],
)

/** Processes that have a journal. */
export const instances = pgTable('instances', {
  id: uuid('id').primaryKey(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  startedAt: moment('started_at').notNull(),
  heartbeatAt: moment('heartbeat_at').notNull(),
  /**
   * `lost`: silent for a long time. What it held has been released. Its journal is still shipped if it is
   * found.
   */
  state: text('state', { enum: ['live', 'closed', 'adopted', 'lost'] }).notNull(),
  /** The columns of its data in `open_requests`; NULL: its running requests are only in its journal. */
  openColumns: text('open_columns').array(),
  /** The last master key that it has learned, and the one that it seals with; NULL: none recorded yet. */
  knownMaster: text('known_master'),
  usedMaster: text('used_master'),
  /** The id of its SECRET_KEY. */
  secretKeyId: text('secret_key_id'),
})

/**
 * What is wrong with a channel according to each process, the worst only. For people and alerts: no process
 * uses it for decisions.
 */
export const breakerReports = pgTable(
  'breaker_reports',
  {
    channelId: uuid('channel_id').notNull(),
    instanceId: uuid('instance_id')
      .notNull()
      .references(() => instances.id, { onDelete: 'cascade' }),
    /**
     * `breaker`: it is open or half open. `refused`: the upstream refuses all of its credentials. `silent`:
     * calls wait, and none is answered.
     */
    kind: text('kind', { enum: ['breaker', 'refused', 'silent'] })
      .notNull()
      .default('breaker'),
    /** The number of consecutive openings of the breaker; 0: it is closed. */
    openings: integer('openings').notNull(),
    /** The last failure. */
    reason: text('reason').notNull(),
    since: moment('since').notNull(),
    /** When the process will try the channel again. */
    openUntil: moment('open_until').notNull(),
    /** Of a silent channel: the calls that wait, and when the first of them began. */
    waiting: integer('waiting').notNull().default(0),
    oldestAt: moment('oldest_at'),
  },
  (t) => [primaryKey({ columns: [t.channelId, t.instanceId] })],
)

/**
 * The running requests of processes with DURABILITY=postgres: data that is also in their journals, and must
 * survive their loss. The transaction that writes a request's row deletes the request here.
 */
export const openRequests = pgTable(
  'open_requests',
  {
    instanceId: uuid('instance_id').notNull(),
    requestId: uuid('request_id').notNull(),
    /** The known columns of its row, in the binary format of COPY. `instances.open_columns` lists them. */
    half: bytea('half').notNull(),
  },
  (t) => [primaryKey({ columns: [t.instanceId, t.requestId] })],
)

/**
 * How many bytes of each journal segment have been shipped. Updated in the transaction that writes the rows.
 */
export const journalPositions = pgTable(
  'journal_positions',
  {
    instanceId: uuid('instance_id').notNull(),
    segment: integer('segment').notNull(),
    position: bigint('position', { mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.instanceId, t.segment] })],
)

/** The channels that hold answers which a client can continue or retrieve again. */
export const heldAnswers = pgTable(
  'held_answers',
  {
    tenantId: uuid('tenant_id').notNull(),
    /** The upstream's id, such as `resp_...`. */
    answerId: text('answer_id').notNull(),
    channel: text('channel').notNull(),
    /** A short hash of the channel's credential with which the answer can be reached; NULL: unknown. */
    credential: text('credential'),
    /** The key that received it; NULL: not recorded, and the answer belongs to the whole tenant. */
    keyId: uuid('key_id'),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.answerId] }),
    index('held_answers_created_at').on(t.createdAt),
  ],
)

/** The dimensions by which the usage log is summed. NULL: the request has no value. */
const parts = () => ({
  tenantId: uuid('tenant_id'),
  keyId: uuid('key_id'),
  groupId: uuid('group_id'),
  /** The requested model; NULL if no such model was found, because clients can invent any number of names. */
  model: text('model'),
  channel: text('channel'),
  outcome: text('outcome').notNull(),
})

const count = (name: string) => bigint(name, { mode: 'bigint' }).notNull()

/**
 * Sums of requests. A histogram is stored in one number: the count of bucket b is in the 12 decimal digits
 * that start at 10^(12 b).
 */
const sums = () => ({
  /** Number of rows in the usage log. */
  rows: count('rows'),
  /** Number of requests; one row can represent many refused ones. */
  requests: count('requests'),
  inputTokens: count('input_tokens'),
  cacheReadTokens: count('cache_read_tokens'),
  cacheWriteTokens: count('cache_write_tokens'),
  outputTokens: count('output_tokens'),
  reasoningTokens: count('reasoning_tokens'),
  images: count('images'),
  /** The total cost of the requests whose cost is known. */
  cost: numeric('cost_nano').notNull(),
  /** The number of requests whose cost is unknown. */
  unpriced: count('unpriced'),
  totalLatency: numeric('total_latency').notNull(),
  firstTokenLatency: numeric('first_token_latency').notNull(),
  /** The part of the cost that was not charged because the held amount was too small. */
  uncharged: numeric('uncharged_nano').notNull().default('0'),
})

/**
 * What rows of the usage log add to the sums. A trigger of `requests` appends it in the transaction that
 * writes the rows, and fold_rollups removes it. No index, no order. Sums of deleted rows are negative.
 */
export const rollupDeltas = pgTable('rollup_deltas', {
  minute: moment('minute').notNull(),
  ...parts(),
  ...sums(),
})

/** Sums by minute, kept for two days. */
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

/** Sums by hour, with all dimensions. */
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

/**
 * Sums by day (UTC) and a few dimensions, kept indefinitely. Dimensions that do not belong to its `cut` are
 * NULL.
 */
export const rollupDays = pgTable(
  'rollup_days',
  {
    day: moment('day').notNull(),
    /** `tenant_model` has both dimensions, and `key` also has the tenant. All have the outcome. */
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

/** The cuts of `rollup_days` that have one dimension. The others would double the number of upserts. */
const singleCuts = () => ({
  cut: text('cut', { enum: ['tenant', 'group', 'model', 'channel'] }).notNull(),
  tenantId: uuid('tenant_id'),
  groupId: uuid('group_id'),
  model: text('model'),
  channel: text('channel'),
  outcome: text('outcome').notNull(),
})

/**
 * Sums by hour and one dimension, kept as long as `rollup_hours`, so that a day can be read quickly. Complete
 * from `rollup_hour_cuts_since` on.
 */
export const rollupHourCuts = pgTable(
  'rollup_hour_cuts',
  { hour: moment('hour').notNull(), ...singleCuts(), ...sums() },
  (t) => [
    unique('rollup_hour_cuts_parts')
      // The hour is first, because old hours are deleted whatever their cut.
      .on(t.hour, t.cut, t.tenantId, t.groupId, t.model, t.channel, t.outcome)
      .nullsNotDistinct(),
  ],
)

/** One row, written by the first fold. `-infinity`: there were no sums before. */
export const rollupHourCutsSince = pgTable('rollup_hour_cuts_since', { hour: moment('hour').notNull() })

/** Sums by month (UTC) and one dimension, so that a year can be read quickly. */
export const rollupMonths = pgTable(
  'rollup_months',
  { month: moment('month').notNull(), ...singleCuts(), ...sums() },
  (t) => [
    unique('rollup_months_parts')
      .on(t.cut, t.month, t.tenantId, t.groupId, t.model, t.channel, t.outcome)
      .nullsNotDistinct(),
  ],
)

/**
 * Days whose rows existed before the sums and have not been counted by the upkeep yet. Their deltas are
 * ignored.
 */
export const rollupBackfill = pgTable('rollup_backfill', { day: date('day').primaryKey() })

/**
 * The answers that clients received, redacted, if a key or its group enables this. STORAGE EXTERNAL, with its
 * own daily partitions and retention. An answer can arrive before or after the row of its request, or never.
 */
export const requestAnswers = pgTable(
  'request_answers',
  {
    requestId: uuid('request_id').notNull(),
    createdAt: moment('created_at').notNull(),
    capture: text('capture').notNull(),
    /** Whether part of what the client received is missing. */
    truncated: boolean('truncated').notNull(),
    answer: text('answer').notNull(),
  },
  (t) => [primaryKey({ columns: [t.requestId, t.createdAt] })],
)
