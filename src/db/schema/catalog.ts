import type { ImageTraits } from '../../canonical/image.ts'
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
import { bytea, managedBy, moment, nano } from './types.ts'

export const models = pgTable('models', {
  /** Public name, or `*`: any model name that a channel passes through. */
  id: text('id').primaryKey(),
  contextLength: integer('context_length'),
  maxOutputTokens: integer('max_output_tokens'),
  /** Other names that clients may call it by. */
  aliases: text('aliases').array().notNull().default(sql`'{}'`),
  /** Models that answer when none of its channels can, in this order. */
  fallbacks: text('fallbacks').array().notNull().default(sql`'{}'`),
  /** Paths of members for which no channel of it adds input. */
  plainMembers: text('plain_members').array().notNull().default(sql`'{}'`),
  /** The image requests that it takes; NULL: not known. */
  images: jsonb('images').$type<ImageTraits>(),
  /** Of all its offers, where gateway.yaml or an admin states them; NULL: none stated. */
  traits: jsonb('traits').$type<Traits>(),
  disabledAt: moment('disabled_at'),
  managedBy: managedBy(),
  createdAt: moment('created_at').notNull().default(sql`now()`),
})

/**
 * Append-only: a new price is a new row; the newest row of a model is in force. Nano-USD per million tokens.
 */
export const prices = pgTable(
  'prices',
  {
    id: uuid('id').primaryKey(),
    /** NULL: a price of the library, which `library_prices` refers to. */
    modelId: text('model_id').references(() => models.id),
    input: nano('input_nano'),
    cacheRead: nano('cache_read_nano'),
    cacheWrite: nano('cache_write_nano'),
    output: nano('output_nano'),
    reasoning: nano('reasoning_nano'),
    /** Nano-USD per image. */
    image: nano('image_nano'),
    /** Prices of images of one size or quality. They have precedence over `image_nano`. */
    imageRates: jsonb('image_rates').$type<ImageRateRow[]>(),
    /** Tokens written to a cache for an hour; NULL: as `cache_write_nano`. */
    cacheWrite1h: nano('cache_write_1h_nano'),
    /** Tokens of audio; NULL: as text. */
    audioInput: nano('audio_input_nano'),
    audioOutput: nano('audio_output_nano'),
    /** Nano-USD for one search of the web. */
    webSearch: nano('web_search_nano'),
    /** Other prices for long inputs and other service tiers. */
    tiers: jsonb('tiers').$type<Record<string, unknown>[]>(),
    /** Where it comes from, as `library @pydantic/genai-prices 0.1.8, openai/gpt-5`; NULL: gateway.yaml. */
    source: text('source'),
    createdAt: moment('created_at').notNull().default(sql`clock_timestamp()`),
  },
  (t) => [index('prices_model').on(t.modelId, t.createdAt)],
)

/**
 * The prices of the library that are in force: of the providers of our channels, where gateway.yaml asks for
 * them. A model's name is looked up among a provider's entries in the order of `ordinal`.
 */
export const libraryPrices = pgTable(
  'library_prices',
  {
    /** The library's name of a vendor. */
    provider: text('provider').notNull(),
    ordinal: integer('ordinal').notNull(),
    /** The library's name of the model. */
    model: text('model').notNull(),
    /** Which names mean the model. */
    match: jsonb('match').$type<Record<string, unknown>>().notNull(),
    /** NULL: the library knows the model, and we cannot tell what it costs. */
    priceId: uuid('price_id').references(() => prices.id),
  },
  (t) => [primaryKey({ columns: [t.provider, t.ordinal] })],
)

/** One row where gateway.yaml asks for prices of the library. */
export const priceLibrary = pgTable('price_library', {
  id: smallint('id').primaryKey().default(1),
  /** The version of the package whose data was written last. */
  version: text('version').notNull(),
  /** Where newer data is fetched every day; NULL: nowhere. */
  renewUrl: text('renew_url'),
  /** When fetched data was written; NULL: the data is the package's. */
  renewedAt: moment('renewed_at'),
  /** When it was last fetched, or tried to. */
  triedAt: moment('tried_at'),
  /** `file`: gateway.yaml has asked for it, and ends it when it no longer does. */
  managedBy: text('managed_by', { enum: ['file', 'admin'] })
    .notNull()
    .default('file'),
})

export const channels = pgTable('channels', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull().unique(),
  /** Protocol name -> base URL exactly as that vendor's own SDK takes it. */
  protocols: jsonb('protocols').$type<Record<string, string>>().notNull(),
  priority: integer('priority').notNull().default(0),
  weight: integer('weight').notNull().default(1),
  allowPrivateAddress: boolean('allow_private_address').notNull().default(false),
  /**
   * CIDR blocks that are allowed beside public addresses; NULL: all or none, as `allowPrivateAddress` says.
   */
  privateAddresses: text('private_addresses').array(),
  /**
   * True: the admin API has set its addresses within PRIVATE_ADDRESSES, and its proxy may have no other
   * private address either.
   */
  isAddressBounded: boolean('is_address_bounded').notNull().default(false),
  /** Whether requests may name what the vendor keeps; NULL: where one tenant alone reaches the channel. */
  sharedState: text('shared_state', { enum: ['allow', 'own'] }),
  /** The most calls that each process runs on it at once; NULL: half of its IN_FLIGHT_MAX. */
  concurrency: integer('concurrency'),
  /** The most images that it makes at once, and in a minute, for all processes together; NULL: unbounded. */
  imageConcurrency: integer('image_concurrency'),
  imagesPerMinute: integer('images_per_minute'),
  /** Paths of members for which its vendor adds no input. */
  plainMembers: text('plain_members').array().notNull().default(sql`'{}'`),
  /** A name of src/traits/vendors.ts; NULL: not stated. */
  vendor: text('vendor'),
  /**
   * Providers of `library_prices` that sell what it serves, in this order; NULL: the library's prices do not
   * apply.
   */
  libraryProviders: text('library_providers').array(),
  /** Of all its offers, as stated. */
  traits: jsonb('traits').$type<Traits>(),
  /** Timeouts in ms and the names of extra headers: what may be shown. */
  connection: jsonb('connection').$type<Record<string, unknown>>(),
  /** How often an admin has closed its breaker in all processes. */
  breakerResets: integer('breaker_resets').notNull().default(0),
  /** Proxy, CA and extra headers as JSON, encrypted as credentials are; NULL: none. */
  connectionKeyId: text('connection_key_id'),
  connectionSealed: bytea('connection_sealed'),
  disabledAt: moment('disabled_at'),
  managedBy: managedBy(),
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

/** One model on one channel. `*` as model and upstream model: any name, passed through. */
export const offers = pgTable(
  'offers',
  {
    channelId: uuid('channel_id')
      .notNull()
      .references(() => channels.id),
    modelId: text('model_id').notNull(),
    upstreamModel: text('upstream_model').notNull(),
    /** As stated for this offer; NULL: none. */
    traits: jsonb('traits').$type<Traits>(),
  },
  (t) => [primaryKey({ columns: [t.channelId, t.modelId] })],
)

/**
 * What probes and refusals of upstreams have proved about an offer in one protocol. One row for each trait
 * and origin.
 */
export const verdicts = pgTable(
  'verdicts',
  {
    channelId: uuid('channel_id')
      .notNull()
      .references(() => channels.id),
    upstreamModel: text('upstream_model').notNull(),
    protocol: text('protocol').notNull(),
    /** What was tried: a probe's name, or the member of a request that the upstream refused. */
    subject: text('subject').notNull(),
    origin: text('origin', { enum: ['probe', 'refusal'] }).notNull(),
    verdict: text('verdict', { enum: ['yes', 'no', 'unknown'] }).notNull(),
    /** What follows from it; NULL: nothing. */
    traits: jsonb('traits').$type<Traits>(),
    /** The upstream's words, redacted and cut. */
    evidence: text('evidence').notNull(),
    /** Ids of the requests that proved it, the newest last. */
    requestIds: uuid('request_ids').array().notNull().default(sql`'{}'`),
    /** What the probe cost; NULL: not known. */
    costNano: nano('cost_nano'),
    decidedAt: moment('decided_at').notNull(),
    /** NULL: until it is replaced. */
    expiresAt: moment('expires_at'),
  },
  (t) => [primaryKey({ columns: [t.channelId, t.upstreamModel, t.protocol, t.subject, t.origin] })],
)

/**
 * One row. Triggers raise its numbers in the transaction of a change: `keys` for a key, `catalog` for all
 * else. Statements that change a master key raise `masters` themselves.
 */
export const revision = pgTable('revision', {
  id: smallint('id').primaryKey().default(1),
  catalog: bigint('catalog', { mode: 'number' }).notNull().default(0),
  keys: bigint('keys', { mode: 'number' }).notNull().default(0),
  masters: bigint('masters', { mode: 'number' }).notNull().default(0),
})

/** The form of `prices.image_rates`: nano-USD as decimal digits. */
export interface ImageRateRow {
  size?: string
  quality?: string
  nano: string
}

/**
 * One row: the gateway.yaml that was applied last. A start that finds its own file here, and no change of
 * catalog and keys since, has nothing to do.
 */
export const gatewayFile = pgTable('gateway_file', {
  id: smallint('id').primaryKey().default(1),
  /** HMAC-SHA256 of all that the file means: its text, the variables that it names, the reader's version. */
  hash: bytea('hash').notNull(),
  /** `revision` of the file; NULL: it has none. */
  revision: bigint('revision', { mode: 'number' }),
  /** The file, and the process that applied it. */
  path: text('path').notNull(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  appliedAt: moment('applied_at').notNull(),
  /** The numbers of `revision` after it was applied. */
  catalogRevision: bigint('catalog_revision', { mode: 'number' }).notNull(),
  keysRevision: bigint('keys_revision', { mode: 'number' }).notNull(),
})

/**
 * One row: the oldest releases that may run on this schema. A migration that takes something away raises it.
 */
export const schemaState = pgTable('schema_state', {
  id: smallint('id').primaryKey().default(1),
  /** The number of migrations that a release must know at least. */
  compatibleFrom: integer('compatible_from').notNull().default(0),
})

/** Runs of probes: each asks one offer in one protocol what it can do. Its findings are in `verdicts`. */
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
    /** The most that it may cost. */
    costMax: nano('cost_max_nano').notNull(),
    /** The key of its requests; NULL: it has not begun. */
    keyId: uuid('key_id'),
    /** What it found; NULL: it has not ended. */
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

/**
 * Every name that a tenant, a key or a group has had. Rows of the usage log have ids, and are shown under the
 * name of their time, also when what they belong to has been renamed or deleted since. Triggers of the three
 * tables write it.
 */
export const names = pgTable(
  'names',
  {
    kind: text('kind', { enum: ['tenant', 'key', 'group'] }).notNull(),
    id: uuid('id').notNull(),
    /** NULL: it was deleted at `since`. */
    name: text('name'),
    /** The epoch for names that are older than this table. */
    since: moment('since').notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.id, t.since] }), index('names_name').on(t.kind, t.name)],
)
