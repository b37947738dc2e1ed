import type { Traits } from '../../canonical/traits.ts'
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  sql,
  text,
  uuid,
} from '../drizzle.cjs'
import { settingsOfChannels } from '../settings/channel-settings.ts'
import { settingsOfModels } from '../settings/model-settings.ts'
import { columnsOf } from '../settings/setting.ts'
import { bytea, managedBy, moment, nano } from './types.ts'

export const models = pgTable('models', {
  /** The public name, or `*` for any model name that a channel passes through. */
  id: text('id').primaryKey(),
  ...columnsOf(settingsOfModels),
  /** The traits of all its offers, if gateway.yaml or an admin states them; NULL: not stated. */
  traits: jsonb('traits').$type<Traits>(),
  disabledAt: moment('disabled_at'),
  managedBy: managedBy(),
  createdAt: moment('created_at').notNull().default(sql`now()`),
})

/**
 * Append-only: a new price is a new row, and the newest row of a model is in force. Nano-USD per million
 * tokens.
 */
export const prices = pgTable(
  'prices',
  {
    id: uuid('id').primaryKey(),
    /** NULL: a library price, which `library_prices` refers to. */
    modelId: text('model_id').references(() => models.id),
    input: nano('input_nano'),
    cacheRead: nano('cache_read_nano'),
    cacheWrite: nano('cache_write_nano'),
    output: nano('output_nano'),
    reasoning: nano('reasoning_nano'),
    /** Nano-USD per image. */
    image: nano('image_nano'),
    /** Prices for images of a certain size or quality. They take precedence over `image_nano`. */
    imageRates: jsonb('image_rates').$type<ImageRateRow[]>(),
    /** Tokens written to a cache for an hour; NULL: `cache_write_nano` applies. */
    cacheWrite1h: nano('cache_write_1h_nano'),
    /** Audio tokens; NULL: the price of text applies. */
    audioInput: nano('audio_input_nano'),
    audioOutput: nano('audio_output_nano'),
    /** Nano-USD per web search. */
    webSearch: nano('web_search_nano'),
    /** The rates without a column, by their names in gateway.yaml; NULL: none. */
    rates: jsonb('rates').$type<Record<string, string>>(),
    /** Different prices for long inputs and other service tiers. */
    tiers: jsonb('tiers').$type<Record<string, unknown>[]>(),
    /** The origin, such as `library @pydantic/genai-prices 0.1.8, openai/gpt-5`; NULL: gateway.yaml. */
    source: text('source'),
    createdAt: moment('created_at').notNull().default(sql`clock_timestamp()`),
  },
  (t) => [index('prices_model').on(t.modelId, t.createdAt)],
)

/**
 * The library prices in force: those of our channels' providers, if gateway.yaml requests them. A model's
 * name is matched against a provider's entries in the order of `ordinal`.
 */
export const libraryPrices = pgTable(
  'library_prices',
  {
    /** The library's name for a vendor. */
    provider: text('provider').notNull(),
    ordinal: integer('ordinal').notNull(),
    /** The library's name for the model. */
    model: text('model').notNull(),
    /** Which names refer to the model. */
    match: jsonb('match').$type<Record<string, unknown>>().notNull(),
    /** NULL: the library knows the model, but its price cannot be determined. */
    priceId: uuid('price_id').references(() => prices.id),
  },
  (t) => [primaryKey({ columns: [t.provider, t.ordinal] })],
)

/** One row if gateway.yaml requests library prices. */
export const priceLibrary = pgTable('price_library', {
  id: smallint('id').primaryKey().default(1),
  /** The version of the package whose data was last written. */
  version: text('version').notNull(),
  /** Where newer data is fetched every day; NULL: it is not fetched. */
  renewUrl: text('renew_url'),
  /** When fetched data was written; NULL: the data comes from the package. */
  renewedAt: moment('renewed_at'),
  /** The time of the last fetch, successful or not. */
  triedAt: moment('tried_at'),
  /** `file`: gateway.yaml has requested it, and removing it there removes it here. */
  managedBy: text('managed_by', { enum: ['file', 'admin'] })
    .notNull()
    .default('file'),
})

export const channels = pgTable('channels', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull().unique(),
  /** Protocol name -> base URL, exactly as the vendor's own SDK expects it. */
  protocols: jsonb('protocols').$type<Record<string, string>>().notNull(),
  ...columnsOf(settingsOfChannels),
  /**
   * Whether the admin API has set its addresses within PRIVATE_ADDRESSES. Its proxy is then also limited to
   * these private addresses.
   */
  isAddressBounded: boolean('is_address_bounded').notNull().default(false),
  /** A name from src/catalog/traits/vendors.ts; NULL: not stated. */
  vendor: text('vendor'),
  /**
   * Providers in `library_prices` that sell what it serves, in this order; NULL: library prices do not apply.
   */
  libraryProviders: text('library_providers').array(),
  /** The stated traits of all its offers. */
  traits: jsonb('traits').$type<Traits>(),
  /** Timeouts in ms and the names of extra headers: the parts that are not secret. */
  connection: jsonb('connection').$type<Record<string, unknown>>(),
  /** How often an admin has reset its breaker in all processes. */
  breakerResets: integer('breaker_resets').notNull().default(0),
  /** Proxy, CA and extra headers as JSON, encrypted in the same way as credentials; NULL: none. */
  connectionKeyId: text('connection_key_id'),
  connectionSealed: bytea('connection_sealed'),
  disabledAt: moment('disabled_at'),
  managedBy: managedBy(),
  /**
   * When, by whom and why a person has blocked it; NULL: it is not blocked. Nothing that writes channels
   * writes these three columns, so only a person lifts the block.
   */
  blockedAt: moment('blocked_at'),
  blockedBy: text('blocked_by'),
  blockReason: text('block_reason'),
})

/**
 * Upstream secrets, AES-256-GCM: nonce (12) | tag (16) | ciphertext, with the channel's id as associated
 * data.
 */
export const channelCredentials = pgTable(
  'channel_credentials',
  {
    channelId: uuid('channel_id')
      .notNull()
      .references(() => channels.id),
    ordinal: smallint('ordinal').notNull(),
    /** The id of the master key that encrypted it. */
    keyId: text('key_id').notNull(),
    sealed: bytea('sealed').notNull(),
  },
  (t) => [primaryKey({ columns: [t.channelId, t.ordinal] })],
)

/** One model on one channel. If model and upstream model are `*`, any name is passed through. */
export const offers = pgTable(
  'offers',
  {
    channelId: uuid('channel_id')
      .notNull()
      .references(() => channels.id),
    modelId: text('model_id').notNull(),
    upstreamModel: text('upstream_model').notNull(),
    /** The stated traits of this offer; NULL: none. */
    traits: jsonb('traits').$type<Traits>(),
  },
  (t) => [primaryKey({ columns: [t.channelId, t.modelId] })],
)

/**
 * What probes and upstream refusals have proved about an offer in one protocol. One row per trait and origin.
 */
export const verdicts = pgTable(
  'verdicts',
  {
    channelId: uuid('channel_id')
      .notNull()
      .references(() => channels.id),
    upstreamModel: text('upstream_model').notNull(),
    protocol: text('protocol').notNull(),
    /** What was tried: the name of a probe, or the request member that the upstream refused. */
    subject: text('subject').notNull(),
    origin: text('origin', { enum: ['probe', 'refusal'] }).notNull(),
    verdict: text('verdict', { enum: ['yes', 'no', 'unknown'] }).notNull(),
    /** The traits that follow from it; NULL: none. */
    traits: jsonb('traits').$type<Traits>(),
    /** The upstream's message, redacted and truncated. */
    evidence: text('evidence').notNull(),
    /** Ids of the requests that proved it, newest last. */
    requestIds: uuid('request_ids').array().notNull().default(sql`'{}'`),
    /** The cost of the probe; NULL: unknown. */
    costNano: nano('cost_nano'),
    decidedAt: moment('decided_at').notNull(),
    /** NULL: valid until it is replaced. */
    expiresAt: moment('expires_at'),
  },
  (t) => [primaryKey({ columns: [t.channelId, t.upstreamModel, t.protocol, t.subject, t.origin] })],
)

/**
 * One row. Triggers increase its numbers in the transaction of a change: `keys` for a key, `catalog` for
 * everything else. Statements that change a master key increase `masters` themselves.
 */
export const revision = pgTable('revision', {
  id: smallint('id').primaryKey().default(1),
  catalog: bigint('catalog', { mode: 'number' }).notNull().default(0),
  keys: bigint('keys', { mode: 'number' }).notNull().default(0),
  masters: bigint('masters', { mode: 'number' }).notNull().default(0),
})

/** The format of `prices.image_rates`: nano-USD as decimal digits. */
export interface ImageRateRow {
  size?: string
  quality?: string
  nano: string
}

/**
 * One row: the last applied gateway.yaml. A start that finds its own file here, and no later change of
 * catalog or keys, has nothing to do.
 */
export const gatewayFile = pgTable('gateway_file', {
  id: smallint('id').primaryKey().default(1),
  /**
   * HMAC-SHA256 of everything that determines the file's meaning: its text, the variables that it refers to,
   * and the reader's version.
   */
  hash: bytea('hash').notNull(),
  /** The file's `revision`; NULL: it has none. */
  revision: bigint('revision', { mode: 'number' }),
  /** The path of the file and the process that applied it. */
  path: text('path').notNull(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  appliedAt: moment('applied_at').notNull(),
  /** The numbers in `revision` after it was applied. */
  catalogRevision: bigint('catalog_revision', { mode: 'number' }).notNull(),
  keysRevision: bigint('keys_revision', { mode: 'number' }).notNull(),
})

/**
 * One row: the oldest releases that can run on this schema. A migration that removes something increases it.
 */
export const schemaState = pgTable('schema_state', {
  id: smallint('id').primaryKey().default(1),
  /** The minimum number of migrations that a release must know. */
  compatibleFrom: integer('compatible_from').notNull().default(0),
})

/** Probe runs: each tests what one offer supports in one protocol. The findings are in `verdicts`. */
export const probeRuns = pgTable(
  'probe_runs',
  {
    id: uuid('id').primaryKey(),
    channelId: uuid('channel_id')
      .notNull()
      .references(() => channels.id),
    /** The public name. */
    model: text('model').notNull(),
    upstreamModel: text('upstream_model').notNull(),
    protocol: text('protocol').notNull(),
    origin: text('origin', { enum: ['admin', 'schedule'] }).notNull(),
    state: text('state', { enum: ['queued', 'running', 'ended', 'failed'] }).notNull(),
    /** The maximum cost. */
    costMax: nano('cost_max_nano').notNull(),
    /** The key used for its requests; NULL: it has not begun. */
    keyId: uuid('key_id'),
    /** The result; NULL: it has not ended. */
    report: jsonb('report').$type<Record<string, unknown>>(),
    /** Why it failed. */
    error: text('error'),
    createdAt: moment('created_at').notNull(),
    startedAt: moment('started_at'),
    endedAt: moment('ended_at'),
  },
  (t) => [
    index('probe_runs_offer').on(t.channelId, t.model, t.createdAt),
    index('probe_runs_created_at').on(t.createdAt),
  ],
)

/**
 * The ledger verification that an admin has started last: at most one row, so that only one runs at a time.
 */
export const ledgerVerifications = pgTable('ledger_verifications', {
  /** True in the only row. */
  only: boolean('only').primaryKey(),
  id: uuid('id').notNull(),
  state: text('state', { enum: ['running', 'ended', 'cancelled', 'failed'] }).notNull(),
  /** The first day to verify; NULL: all days. */
  since: text('since'),
  startedBy: text('started_by').notNull(),
  startedAt: moment('started_at').notNull(),
  /** The last sign of life of the process that runs it. */
  seenAt: moment('seen_at').notNull(),
  endedAt: moment('ended_at'),
  /** Whether someone has cancelled it. */
  isUnwanted: boolean('is_unwanted').notNull(),
  stepsDone: integer('steps_done').notNull(),
  /** The number of steps; 0: not counted yet. */
  steps: integer('steps').notNull(),
  /** The rule being checked. */
  doing: text('doing'),
  /** The findings, rule by rule; NULL: it has not ended. */
  findings: jsonb('findings').$type<{ rule: string; differences: number; samples: string[] }[]>(),
  requests: bigint('requests', { mode: 'number' }),
  orphaned: bigint('orphaned', { mode: 'number' }),
  /** Why it failed. */
  error: text('error'),
})

/**
 * Recently written rows of the usage log, for tails: rows written more than a day after the day on which
 * their request began, and all rows while a tail is open. A trigger of `requests` records each row here in
 * the transaction that writes it.
 */
export const notedRequests = pgTable(
  'noted_requests',
  {
    id: uuid('id').notNull(),
    createdAt: moment('created_at').notNull(),
    /** The 64-bit number of the transaction. */
    transaction: bigint('transaction', { mode: 'bigint' }).notNull(),
    writtenAt: moment('written_at').notNull(),
  },
  (t) => [index('noted_requests_transaction').on(t.transaction)],
)

/** One row: until when all new rows must be recorded for tails. */
export const tailWatch = pgTable('tail_watch', {
  one: boolean('one').primaryKey(),
  until: moment('until').notNull(),
})

/**
 * Every name that a tenant, key or group has had. Usage-log rows store ids but are shown with the names in
 * use when they were written, even if the tenant, key or group has since been renamed or deleted. Triggers of
 * the three tables write the rows.
 */
export const names = pgTable(
  'names',
  {
    kind: text('kind', { enum: ['tenant', 'key', 'group'] }).notNull(),
    id: uuid('id').notNull(),
    /** NULL: it was deleted at `since`. */
    name: text('name'),
    /** The epoch for names older than this table. */
    since: moment('since').notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.id, t.since] }), index('names_name').on(t.kind, t.name)],
)
