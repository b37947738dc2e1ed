import {
  bigint,
  boolean,
  customType,
  index,
  integer,
  jsonb,
  pgTable,
  pgView,
  primaryKey,
  smallint,
  sql,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from './drizzle.cjs'

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
const nano = (name: string) => bigint(name, { mode: 'bigint' })
const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 })

/** Who edits a row: `file` rows are those of gateway.yaml and are disabled when they leave it. */
const managedBy = () => text('managed_by', { enum: ['file', 'admin'] }).notNull()

/** Bounds on how fast something is used; NULL: unbounded. */
const limits = () => ({
  requestsPerMinute: integer('requests_per_minute'),
  tokensPerMinute: integer('tokens_per_minute'),
  concurrency: integer('concurrency'),
})

/** Most that may be spent in a day, in a month (UTC) and in all, nano-USD; NULL: unbounded. */
const budgetColumns = () => ({
  budgetDay: nano('budget_day_nano'),
  budgetMonth: nano('budget_month_nano'),
  budgetTotal: nano('budget_total_nano'),
})

export const tenants = pgTable('tenants', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull().unique(),
  /** Of all its keys together. */
  ...limits(),
  disabledAt: moment('disabled_at'),
  managedBy: managedBy(),
  createdAt: moment('created_at').notNull().default(sql`now()`),
})

/** One per tenant, with the tenant's id. `limited` accounts are admitted by reservation, others only recorded. */
export const accounts = pgTable('accounts', {
  id: uuid('id')
    .primaryKey()
    .references(() => tenants.id),
  limited: boolean('limited').notNull(),
  /** Sum of the account's entries, nano-USD. Negative for unlimited accounts: what they spent. */
  balance: nano('balance_nano').notNull().default(sql`0`),
  /** Sum of the account's reservations, nano-USD. */
  reserved: nano('reserved_nano').notNull().default(sql`0`),
})

export const groups = pgTable('key_groups', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull().unique(),
  models: text('models').array().notNull(),
  channels: text('channels').array().notNull(),
  /** Decimal string. */
  priceMultiplier: text('price_multiplier').notNull().default('1'),
  clientGonePolicy: text('client_gone_policy', { enum: ['drain', 'abort'] })
    .notNull()
    .default('drain'),
  clientGoneSeconds: integer('client_gone_seconds').notNull().default(30),
  /** Of each of its keys that has none of its own. */
  ...limits(),
  /** Of all its keys together. */
  totalRequestsPerMinute: integer('total_requests_per_minute'),
  totalTokensPerMinute: integer('total_tokens_per_minute'),
  totalConcurrency: integer('total_concurrency'),
  /** Of all its keys together. */
  ...budgetColumns(),
  /** Of queued images: higher first. */
  imagePriority: smallint('image_priority').notNull().default(0),
  managedBy: managedBy(),
})

export const keys = pgTable(
  'keys',
  {
    id: uuid('id').primaryKey(),
    tenantId: uuid('tenant_id')
      .notNull()
      .references(() => tenants.id),
    groupId: uuid('group_id')
      .notNull()
      .references(() => groups.id),
    name: text('name').notNull(),
    /** HMAC-SHA256(pepper, secret). The secret itself is never stored. */
    secretHash: bytea('secret_hash').notNull(),
    /** First characters of the secret, for people who look for a key. */
    hint: text('hint').notNull(),
    capture: text('capture', { enum: ['none', 'shape', 'content'] })
      .notNull()
      .default('content'),
    /** Whose rows the key may read from the usage log. */
    usageScope: text('usage_scope', { enum: ['tenant', 'key'] })
      .notNull()
      .default('tenant'),
    /** True: what a translation would lose is refused instead. */
    strict: boolean('strict').notNull().default(false),
    /** NULL: its group's. */
    ...limits(),
    ...budgetColumns(),
    /** NULL: whatever the group allows. */
    allowedModels: text('allowed_models').array(),
    /** NULL: from anywhere. */
    allowedCidrs: text('allowed_cidrs').array(),
    expiresAt: moment('expires_at'),
    disabledAt: moment('disabled_at'),
    managedBy: managedBy(),
    createdAt: moment('created_at').notNull().default(sql`now()`),
    /** Value of revision.keys at the last change; set by a trigger. */
    revision: bigint('revision', { mode: 'number' }).notNull().default(0),
  },
  (t) => [
    uniqueIndex('keys_secret_hash').on(t.secretHash),
    uniqueIndex('keys_tenant_name').on(t.tenantId, t.name),
    index('keys_revision').on(t.revision),
  ],
)

export const models = pgTable('models', {
  /** Public name, or `*`: any model name that a channel passes through. */
  id: text('id').primaryKey(),
  contextLength: integer('context_length'),
  maxOutputTokens: integer('max_output_tokens'),
  /** Other names that clients may call it by. */
  aliases: text('aliases').array().notNull().default(sql`'{}'`),
  /** Models that answer in its stead, in this order, when none of its channels can. */
  fallbacks: text('fallbacks').array().notNull().default(sql`'{}'`),
  /** What of image requests it takes; NULL: nothing is said of it. */
  images: jsonb('images').$type<ImageTraits>(),
  disabledAt: moment('disabled_at'),
  managedBy: managedBy(),
  createdAt: moment('created_at').notNull().default(sql`now()`),
})

/** Append-only: a new price is a new row; the newest row of a model is in force. Nano-USD per million tokens. */
export const prices = pgTable(
  'prices',
  {
    id: uuid('id').primaryKey(),
    modelId: text('model_id')
      .notNull()
      .references(() => models.id),
    input: nano('input_nano'),
    cacheRead: nano('cache_read_nano'),
    cacheWrite: nano('cache_write_nano'),
    output: nano('output_nano'),
    reasoning: nano('reasoning_nano'),
    /** Nano-USD per image. */
    image: nano('image_nano'),
    /** Prices of images of one size or quality, which go before `image_nano`. */
    imageRates: jsonb('image_rates').$type<ImageRateRow[]>(),
    createdAt: moment('created_at').notNull().default(sql`clock_timestamp()`),
  },
  (t) => [index('prices_model').on(t.modelId, t.createdAt)],
)

export const channels = pgTable('channels', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull().unique(),
  /** Protocol name -> base URL exactly as that vendor's own SDK takes it. */
  protocols: jsonb('protocols').$type<Record<string, string>>().notNull(),
  priority: integer('priority').notNull().default(0),
  weight: integer('weight').notNull().default(1),
  allowPrivateAddress: boolean('allow_private_address').notNull().default(false),
  /** CIDR blocks that are allowed beside public addresses; NULL: `allowPrivateAddress` says it for all of them. */
  privateAddresses: text('private_addresses').array(),
  /** Most images that all processes together have it make at once, and in a minute; NULL: unbounded. */
  imageConcurrency: integer('image_concurrency'),
  imagesPerMinute: integer('images_per_minute'),
  disabledAt: moment('disabled_at'),
  managedBy: managedBy(),
})

/** Upstream secrets, AES-256-GCM: nonce (12) | tag (16) | ciphertext, with the channel's id as associated data. */
export const channelCredentials = pgTable(
  'channel_credentials',
  {
    channelId: uuid('channel_id')
      .notNull()
      .references(() => channels.id),
    ordinal: smallint('ordinal').notNull(),
    /** Names the SECRET_KEY that sealed it. */
    keyId: text('key_id').notNull(),
    sealed: bytea('sealed').notNull(),
  },
  (t) => [primaryKey({ columns: [t.channelId, t.ordinal] })],
)

/** One model on one channel. `*` as model and upstream model: any name, passed through. */
export const offers = pgTable(
  'offers',
  {
    channelId: uuid('channel_id')
      .notNull()
      .references(() => channels.id),
    modelId: text('model_id').notNull(),
    upstreamModel: text('upstream_model').notNull(),
  },
  (t) => [primaryKey({ columns: [t.channelId, t.modelId] })],
)

/** One row. Raised by triggers, in the transaction of the change: `keys` for any key, `catalog` for all else. */
export const revision = pgTable('revision', {
  id: smallint('id').primaryKey().default(1),
  catalog: bigint('catalog', { mode: 'number' }).notNull().default(0),
  keys: bigint('keys', { mode: 'number' }).notNull().default(0),
})

/**
 * The usage log: one row per client call, append-only. In the migration: RANGE partitions by day on created_at,
 * plus a default one. `created_at` is the millisecond inside the uuidv7 `id`, so an id alone finds its partition.
 * The shipper writes it by binary COPY in this column order (ledger/tuple.ts).
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
    /** More than 1: a flood of unauthenticated calls from one address, folded into this row. */
    folded: integer('folded').notNull().default(1),
    /** Images delivered; NULL: not an image request. */
    images: smallint('images'),
  },
  (t) => [
    primaryKey({ columns: [t.id, t.createdAt] }),
    // With the key, so that a key that sees only its own rows has those of others passed over within the index.
    index('requests_tenant').on(t.tenantId, t.createdAt, t.keyId),
    // For the filters of the usage log, each in the list's order; what is usual stays out of the partial ones.
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
  ],
)

/** Redacted bodies, apart from the list that people page through. STORAGE EXTERNAL, own partitions and retention. */
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

/** Upstream calls made, and candidates passed over, for one request, in order. Partitioned by day as well. */
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
    /** A candidate that was not called. */
    passedOver: boolean('passed_over').notNull().default(false),
    status: smallint('status'),
    errorKind: text('error_kind'),
    errorMessage: text('error_message'),
    firstByteMs: integer('first_byte_ms'),
    totalMs: integer('total_ms'),
    upstreamRequestId: text('upstream_request_id'),
  },
  (t) => [primaryKey({ columns: [t.requestId, t.createdAt, t.ordinal] })],
)

/** Immutable money movements. A charge has the id of its request, so it cannot be booked twice. */
export const entries = pgTable('entries', {
  id: uuid('id').primaryKey(),
  accountId: uuid('account_id').notNull(),
  createdAt: moment('created_at').notNull(),
  kind: text('kind', { enum: ['opening', 'top_up', 'adjustment', 'charge'] }).notNull(),
  /** Nano-USD; negative takes from the account. */
  amount: nano('amount_nano').notNull(),
  /** Why, in the operator's words; NULL for charges and openings. */
  note: text('note'),
})

/** What keys and groups that have budgets spent in one period of them, and what running requests hold of it. */
export const budgetPeriods = pgTable(
  'budget_periods',
  {
    id: uuid('id').primaryKey().default(sql`gen_random_uuid()`),
    /** A key's or a group's id. */
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

/** Money held for running requests of limited accounts. */
export const reservations = pgTable(
  'reservations',
  {
    requestId: uuid('request_id').primaryKey(),
    accountId: uuid('account_id').notNull(),
    instanceId: uuid('instance_id').notNull(),
    amount: nano('amount_nano').notNull(),
    /** Those that hold it too. */
    budgetPeriodIds: uuid('budget_period_ids').array().notNull().default(sql`'{}'`),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [index('reservations_instance').on(t.instanceId)],
)

/** Channels that fail, for all processes: as long as a row's moment has not come, others are asked before it. */
export const channelBreakers = pgTable('channel_breakers', {
  channelId: uuid('channel_id').primaryKey(),
  /** Times it opened in a row: each doubles how long. */
  openings: integer('openings').notNull(),
  openUntil: moment('open_until').notNull(),
  /** Then one process may try it; whoever does pushes this ahead. */
  probeAt: moment('probe_at').notNull(),
  /** What it failed with last, for people. */
  reason: text('reason').notNull(),
  changedAt: moment('changed_at').notNull(),
})

/** Processes with a journal. */
export const instances = pgTable('instances', {
  id: uuid('id').primaryKey(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  startedAt: moment('started_at').notNull(),
  heartbeatAt: moment('heartbeat_at').notNull(),
  /** `lost`: not heard of for a day, and nobody has its journal. */
  state: text('state', { enum: ['live', 'closed', 'adopted', 'lost'] }).notNull(),
})

/** How far each journal segment has been shipped, in bytes; advanced in the transaction that ships. */
export const journalPositions = pgTable(
  'journal_positions',
  {
    instanceId: uuid('instance_id').notNull(),
    segment: integer('segment').notNull(),
    position: bigint('position', { mode: 'number' }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.instanceId, t.segment] })],
)

/** Which channel holds an answer that a client may continue or ask for again. */
export const heldAnswers = pgTable(
  'held_answers',
  {
    tenantId: uuid('tenant_id').notNull(),
    /** The upstream's id, such as `resp_...`. */
    answerId: text('answer_id').notNull(),
    channel: text('channel').notNull(),
    /** Which of the channel's credentials holds it, as a short hash of it; NULL: not known. */
    credential: text('credential'),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.answerId] }),
    index('held_answers_created_at').on(t.createdAt),
  ],
)

/** As `models.images` keeps it (canonical/image.ts). */
interface ImageTraits {
  sizes?: readonly string[]
  qualities?: readonly string[]
  styles?: readonly string[]
  backgrounds?: readonly string[]
  outputFormats?: readonly string[]
  imagesMax?: number
  partialImagesMax?: number
  promptCharactersMax?: number
}

/** As `prices.image_rates` keeps it: nano-USD as decimal digits. */
export interface ImageRateRow {
  size?: string
  quality?: string
  nano: string
}

/**
 * Image generations: the truth of each, whatever the queue says. A job has its request's id, and whoever ends it writes
 * the request's row in the same transaction (finish_image_job).
 */
export const imageJobs = pgTable(
  'image_jobs',
  {
    id: uuid('id').primaryKey(),
    tenantId: uuid('tenant_id').notNull(),
    keyId: uuid('key_id').notNull(),
    groupId: uuid('group_id').notNull(),
    state: text('state', { enum: ['queued', 'running', 'succeeded', 'failed', 'cancelled'] }).notNull(),
    /** Higher first. */
    priority: smallint('priority').notNull(),
    model: text('model').notNull(),
    /** Sealed for this job's id; NULL once it has ended. */
    request: bytea('request'),
    /** JSON text of JobQuote: what it costs, fixed when it was accepted. */
    quote: text('quote').notNull(),
    /** JSON text of the OpenRecord, its body left out. */
    opened: text('opened').notNull(),
    /** Redacted; NULL where nothing is kept, and once it stands in request_payloads. */
    body: text('body'),
    createdAt: moment('created_at').notNull(),
    /** Given to the queue; NULL: more of its tenant's wait than the queue takes. */
    enqueuedAt: moment('enqueued_at'),
    /** Not to be run before; NULL: at once. */
    notBefore: moment('not_before'),
    startedAt: moment('started_at'),
    finishedAt: moment('finished_at'),
    /** Raised by each lease: who holds an older one changes nothing. */
    fence: integer('fence').notNull().default(0),
    /** Those that came to nothing, and the one under way: waiting for a channel counts for none. */
    runs: integer('runs').notNull().default(0),
    leasedUntil: moment('leased_until'),
    /** The channel whose turn it has. */
    channelId: uuid('channel_id'),
    cancelRequested: boolean('cancel_requested').notNull().default(false),
    /** JSON text of AttemptRecord[]. */
    attempts: text('attempts').notNull().default('[]'),
    /** JSON text of JobPartial[]. */
    partials: text('partials').notNull().default('[]'),
    /** JSON text of JobResult. */
    result: text('result'),
    /** JSON text of JobError. */
    error: text('error'),
    cost: nano('cost_nano'),
    /** Sealed for this job's id; NULL: nobody is to be told. */
    webhookUrl: bytea('webhook_url'),
    webhookState: text('webhook_state', { enum: ['pending', 'delivered', 'failed'] }),
    webhookTries: smallint('webhook_tries').notNull().default(0),
    /** The next delivery is due then. */
    webhookAt: moment('webhook_at'),
  },
  (t) => [
    index('image_jobs_tenant').on(t.tenantId, t.id),
    // Those of each tenant that wait outside of the queue, in their order, and those that wait within.
    index('image_jobs_waiting')
      .on(t.tenantId, t.priority.desc(), t.id)
      .where(sql`${t.state} = 'queued' and ${t.enqueuedAt} is null`),
    index('image_jobs_enqueued')
      .on(t.tenantId, t.enqueuedAt)
      .where(sql`${t.state} = 'queued' and ${t.enqueuedAt} is not null`),
    index('image_jobs_running').on(t.channelId, t.leasedUntil).where(sql`${t.state} = 'running'`),
    index('image_jobs_webhook').on(t.webhookAt).where(sql`${t.webhookState} = 'pending'`),
    index('image_jobs_created_at').on(t.createdAt),
  ],
)

/** When a channel may begin its next image, where its images per minute are bounded (GCRA). */
export const imageChannelTurns = pgTable('image_channel_turns', {
  channelId: uuid('channel_id').primaryKey(),
  nextAt: moment('next_at').notNull(),
})

/** One POST each that came with an Idempotency-Key; its answer once there is one. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    keyId: uuid('key_id').notNull(),
    /** SHA-256 of the header's value. */
    keyHash: bytea('key_hash').notNull(),
    /** SHA-256 of path and body. */
    fingerprint: bytea('fingerprint').notNull(),
    requestId: uuid('request_id').notNull(),
    /** The process that runs it; NULL once it has an answer. */
    instanceId: uuid('instance_id'),
    status: smallint('status'),
    /** JSON text of the answer's headers. */
    headers: text('headers'),
    /** Sealed for request_id; NULL while it runs, and where the answer is an image job's. */
    answer: bytea('answer'),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.keyId, t.keyHash] }),
    index('idempotency_keys_created_at').on(t.createdAt),
  ],
)
