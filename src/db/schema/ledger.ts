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
 * The usage log: one row for each client call, append-only. The migration makes RANGE partitions by day on
 * created_at, and a default one. `created_at` is the millisecond inside the uuidv7 `id`, so an id alone finds
 * its partition. ledger/row.ts has the meaning, the bound and the source of each column.
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
    /** NULL: not known. */
    cost: nano('cost_nano'),
    priceId: uuid('price_id'),
    priceMultiplier: text('price_multiplier'),
    queueMs: integer('queue_ms'),
    firstTokenMs: integer('first_token_ms'),
    totalMs: integer('total_ms'),
    attemptCount: smallint('attempt_count').notNull(),
    /** JSON text of TranslationNote[]; text, because jsonb refuses escaped NUL and lone surrogates. */
    notes: text('notes'),
    clientAddress: text('client_address'),
    userAgent: text('user_agent'),
    upstreamRequestId: text('upstream_request_id'),
    idempotencyKey: text('idempotency_key'),
    /** More than 1: the row represents this number of refused calls of one caller. */
    folded: integer('folded').notNull().default(1),
    /** Images delivered; NULL: not an image request. */
    images: smallint('images'),
    endUser: text('end_user'),
    session: text('session'),
    /** NULL: none. A trigger copies each tag to request_tags. */
    tags: text('tags').array(),
    /** JSON text of CostFact[]; NULL: none. */
    costFacts: text('cost_facts'),
    /** NULL in rows from before it was noted: the cost. */
    charged: nano('charged_nano'),
  },
  (t) => [
    primaryKey({ columns: [t.id, t.createdAt] }),
    // With the key: for a key that sees only its own rows, the index alone skips the rows of others.
    index('requests_tenant').on(t.tenantId, t.createdAt, t.keyId),
    // One for each filter of the usage log, in the order of the list. The partial indexes omit the most
    // frequent value.
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
 * The tags of requests in the order of the list, which no index on an array has. A trigger of `requests`
 * writes it. It is partitioned by day, as `requests`.
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
 * Redacted bodies, apart from the rows that people page through. STORAGE EXTERNAL, partitions and retention
 * of its own.
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

/** The upstream calls of a request, and the candidates passed over, in order. Partitioned by day as well. */
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
    /** True: the candidate was not called. */
    passedOver: boolean('passed_over').notNull().default(false),
    status: smallint('status'),
    errorKind: text('error_kind'),
    errorMessage: text('error_message'),
    firstByteMs: integer('first_byte_ms'),
    totalMs: integer('total_ms'),
    upstreamRequestId: text('upstream_request_id'),
    /** Name of the channel's credential; NULL: none was used, or it was not noted. */
    credential: text('credential'),
  },
  (t) => [primaryKey({ columns: [t.requestId, t.createdAt, t.ordinal] })],
)

/**
 * Immutable money movements. A charge has the id of its request and its moment, so it cannot be booked twice.
 * The upkeep moves the table into RANGE partitions by month on created_at, and a default one: each has `id`
 * as its own primary key, and the index of ledger/entry-indexes.ts.
 */
export const entries = pgTable('entries', {
  id: uuid('id').primaryKey(),
  accountId: uuid('account_id').notNull(),
  createdAt: moment('created_at').notNull(),
  kind: text('kind', { enum: ['opening', 'top_up', 'adjustment', 'charge'] }).notNull(),
  /** Nano-USD. A negative amount takes from the account. */
  amount: nano('amount_nano').notNull(),
  /** The operator's reason; NULL for charges and openings. */
  note: text('note'),
})

/** The partitions of `entries` by month, without gaps. The first has all earlier months too. */
export const entryMonths = pgTable('entry_months', {
  /** First day of its month; of the last one, where it has several. */
  month: date('month').primaryKey(),
  /** Name of the table. */
  partition: text('partition').notNull(),
  /** `-infinity` for the first one. */
  startsAt: timestamp('starts_at', { withTimezone: true, mode: 'string' }).notNull(),
  endsAt: timestamp('ends_at', { withTimezone: true, mode: 'string' }).notNull(),
  /** From then on its checkpoints are complete; NULL: the month is open. Months are closed in their order. */
  closedAt: moment('closed_at'),
  /** From then on it has no charges; NULL: it has all its entries. */
  prunedAt: moment('pruned_at'),
})

/**
 * Sums of the entries of an account in a month. The checkpoint is the sum of its rows: each late entry adds
 * one. Rows of an open month do not count.
 */
export const entryCheckpoints = pgTable(
  'entry_checkpoints',
  {
    month: date('month').notNull(),
    accountId: uuid('account_id').notNull(),
    sum: nano('sum_nano').notNull(),
    /** Number of entries. */
    entries: bigint('entries', { mode: 'number' }).notNull(),
  },
  (t) => [index('entry_checkpoints_account').on(t.month, t.accountId)],
)

/**
 * The money that a key or a group with a budget has spent in one period, and that its running requests hold.
 */
export const budgetPeriods = pgTable(
  'budget_periods',
  {
    id: uuid('id').primaryKey().default(sql`gen_random_uuid()`),
    /** Id of a key or a group. */
    ownerId: uuid('owner_id').notNull(),
    period: text('period', { enum: ['day', 'month', 'total'] }).notNull(),
    /** Midnight UTC of its first day; the epoch for `total`. */
    startsAt: moment('starts_at').notNull(),
    spent: nano('spent_nano').notNull().default(sql`0`),
    reserved: nano('reserved_nano').notNull().default(sql`0`),
  },
  (t) => [uniqueIndex('budget_periods_owner').on(t.ownerId, t.period, t.startsAt)],
)

/** The budgets that keys and groups have now. A migration made the view. */
export const budgets = pgView('budgets', {
  ownerId: uuid('owner_id').notNull(),
  owner: text('owner', { enum: ['key', 'group'] }).notNull(),
  period: text('period', { enum: ['day', 'month', 'total'] }).notNull(),
  limit: nano('limit_nano').notNull(),
}).existing()

/** Money that is held for a running request. */
export const reservations = pgTable(
  'reservations',
  {
    requestId: uuid('request_id').primaryKey(),
    accountId: uuid('account_id').notNull(),
    instanceId: uuid('instance_id').notNull(),
    amount: nano('amount_nano').notNull(),
    /** The budget periods that hold it too. */
    budgetPeriodIds: uuid('budget_period_ids').array().notNull().default(sql`'{}'`),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [index('reservations_instance').on(t.instanceId)],
)

/** Processes with a journal. */
export const instances = pgTable('instances', {
  id: uuid('id').primaryKey(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  startedAt: moment('started_at').notNull(),
  heartbeatAt: moment('heartbeat_at').notNull(),
  /**
   * `lost`: silent for long. What it held is released. Its journal is shipped all the same where one is
   * found.
   */
  state: text('state', { enum: ['live', 'closed', 'adopted', 'lost'] }).notNull(),
  /** The columns of its halves in `open_requests`; NULL: its running requests are only in its journal. */
  openColumns: text('open_columns').array(),
  /** The master key that it learned last, and the one that it seals with; NULL: it has noted none yet. */
  knownMaster: text('known_master'),
  usedMaster: text('used_master'),
  /** The id of its SECRET_KEY. */
  secretKeyId: text('secret_key_id'),
})

/** Which breakers each process has open or half open. For people and alerts: no process decides by it. */
export const breakerReports = pgTable(
  'breaker_reports',
  {
    channelId: uuid('channel_id').notNull(),
    instanceId: uuid('instance_id')
      .notNull()
      .references(() => instances.id, { onDelete: 'cascade' }),
    /** In a row. */
    openings: integer('openings').notNull(),
    /** The last failure. */
    reason: text('reason').notNull(),
    since: moment('since').notNull(),
    /** From this time on the process tries the channel. */
    openUntil: moment('open_until').notNull(),
  },
  (t) => [primaryKey({ columns: [t.channelId, t.instanceId] })],
)

/**
 * The running requests of processes with DURABILITY=postgres: what is in their journals, and must not be lost
 * with them. The transaction that writes the row of a request deletes it here.
 */
export const openRequests = pgTable(
  'open_requests',
  {
    instanceId: uuid('instance_id').notNull(),
    requestId: uuid('request_id').notNull(),
    /**
     * The columns of its row that are known, in the binary format of COPY. `instances.open_columns` names
     * them.
     */
    half: bytea('half').notNull(),
  },
  (t) => [primaryKey({ columns: [t.instanceId, t.requestId] })],
)

/** The bytes of each journal segment that are shipped. The transaction that writes the rows advances them. */
export const journalPositions = pgTable(
  'journal_positions',
  {
    instanceId: uuid('instance_id').notNull(),
    segment: integer('segment').notNull(),
    position: bigint('position', { mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.instanceId, t.segment] })],
)

/** The channels that hold answers which a client may continue or ask for again. */
export const heldAnswers = pgTable(
  'held_answers',
  {
    tenantId: uuid('tenant_id').notNull(),
    /** The upstream's id, such as `resp_...`. */
    answerId: text('answer_id').notNull(),
    channel: text('channel').notNull(),
    /** A short hash of the channel's credential that holds it; NULL: not known. */
    credential: text('credential'),
    /** The key that got it; NULL: it was not noted, and the answer counts as the whole tenant's. */
    keyId: uuid('key_id'),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.answerId] }),
    index('held_answers_created_at').on(t.createdAt),
  ],
)

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
 * Sums of requests. A histogram is one number: the count of bucket b is in its 12 decimal digits from
 * 10^(12 b) on.
 */
const sums = () => ({
  /** Rows of the usage log. */
  rows: count('rows'),
  /** Requests: a row may represent many refused ones. */
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

/** Sums by day (UTC) and a few parts, kept indefinitely. The parts that its `cut` does not name are NULL. */
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
