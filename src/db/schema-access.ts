import {
  bigint,
  boolean,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  sql,
  text,
  uniqueIndex,
  uuid,
} from './drizzle.cjs'
import { budgetColumns, bytea, limits, managedBy, moment, nano } from './schema-types.ts'

export const tenants = pgTable('tenants', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull().unique(),
  /** Bounds of all its keys together. */
  ...limits(),
  /**
   * Days for which its rows, bodies and answers are kept; NULL, or more than all are kept for: as for all.
   */
  rowsDays: integer('rows_days'),
  bodiesDays: integer('bodies_days'),
  answersDays: integer('answers_days'),
  disabledAt: moment('disabled_at'),
  managedBy: managedBy(),
  createdAt: moment('created_at').notNull().default(sql`now()`),
})

/** One account for each tenant, with the tenant's id. Requests of a `limited` account need a reservation. */
export const accounts = pgTable('accounts', {
  id: uuid('id')
    .primaryKey()
    .references(() => tenants.id),
  limited: boolean('limited').notNull(),
  /** The sum of the account's entries, in nano-USD. An unlimited account goes below zero. */
  balance: nano('balance_nano').notNull().default(sql`0`),
  /** The sum of the account's reservations, in nano-USD. */
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
  clientGoneUnseen: text('client_gone_unseen', { enum: ['estimate', 'hold'] })
    .notNull()
    .default('estimate'),
  /** Bounds of each key that has no bounds of its own. */
  ...limits(),
  /** Bounds of all its keys together. */
  totalRequestsPerMinute: integer('total_requests_per_minute'),
  totalTokensPerMinute: integer('total_tokens_per_minute'),
  totalConcurrency: integer('total_concurrency'),
  /** Budgets of all its keys together. */
  ...budgetColumns(),
  /** Queued images with a higher priority come first. */
  imagePriority: smallint('image_priority').notNull().default(0),
  /** True: the usage log keeps the answers that its keys get. A key may say otherwise. */
  captureAnswers: boolean('capture_answers').notNull().default(false),
  /**
   * Days for which answers are kept, so that later requests continue them; 0: none is kept. A key may say
   * otherwise.
   */
  keptDays: smallint('kept_days').notNull().default(0),
  /** The model that is asked for the summary of a conversation, in place of the client's. */
  compactModel: text('compact_model'),
  /** True: the public catalog shows its models and prices to everybody. */
  public: boolean('public').notNull().default(false),
  /** For people. */
  description: text('description'),
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
    /** The first characters of the secret, by which people recognise a key. */
    hint: text('hint').notNull(),
    /** The secret before the last rotation. It is good until `formerSecretUntil`. */
    formerSecretHash: bytea('former_secret_hash'),
    formerSecretUntil: moment('former_secret_until'),
    capture: text('capture', { enum: ['none', 'shape', 'content'] })
      .notNull()
      .default('content'),
    /** Whether the usage log keeps its answers, which needs `capture` = content. NULL: as its group says. */
    captureAnswers: boolean('capture_answers'),
    /** Days for which its answers are kept; 0: none is kept. NULL: as its group says. */
    keptDays: smallint('kept_days'),
    /** The rows of the usage log that the key may read: its tenant's, or only its own. */
    usageScope: text('usage_scope', { enum: ['tenant', 'key'] })
      .notNull()
      .default('tenant'),
    /** True: a request is refused when its translation would lose something. */
    strict: boolean('strict').notNull().default(false),
    /** NULL: the bounds of its group. */
    ...limits(),
    ...budgetColumns(),
    /** NULL: all models that the group allows. */
    allowedModels: text('allowed_models').array(),
    /** NULL: any address. */
    allowedCidrs: text('allowed_cidrs').array(),
    expiresAt: moment('expires_at'),
    /**
     * The key that made this one: its limits, budgets and restrictions hold for both. NULL: an admin or a
     * file made it.
     */
    parentId: uuid('parent_id'),
    /** How many sub-keys it may have at once; NULL: it may make none. */
    subKeysMax: integer('sub_keys_max'),
    disabledAt: moment('disabled_at'),
    /** True: a member of its tenant has disabled it, and members may enable it again. */
    disabledByMember: boolean('disabled_by_member').notNull().default(false),
    /** It is disabled for ever. */
    revokedAt: moment('revoked_at'),
    managedBy: managedBy(),
    createdAt: moment('created_at').notNull().default(sql`now()`),
    /** Value of revision.keys at the last change; set by a trigger. */
    revision: bigint('revision', { mode: 'number' }).notNull().default(0),
  },
  (t) => [
    uniqueIndex('keys_secret_hash').on(t.secretHash),
    index('keys_former_secret_hash').on(t.formerSecretHash).where(sql`${t.formerSecretHash} is not null`),
    uniqueIndex('keys_tenant_name').on(t.tenantId, t.name),
    index('keys_revision').on(t.revision),
    // The tenants of a group.
    index('keys_group_tenant').on(t.groupId, t.tenantId).where(sql`${t.revokedAt} is null`),
    index('keys_parent').on(t.parentId).where(sql`${t.parentId} is not null`),
    index('keys_revoked_sub_keys')
      .on(t.revokedAt)
      .where(sql`${t.parentId} is not null and ${t.revokedAt} is not null`),
  ],
)

/** A row for each POST with an Idempotency-Key, and its answer once there is one. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    keyId: uuid('key_id').notNull(),
    /** SHA-256 of the header's value. */
    keyHash: bytea('key_hash').notNull(),
    /** SHA-256 of path and body. */
    fingerprint: bytea('fingerprint').notNull(),
    requestId: uuid('request_id').notNull(),
    /** The process that runs the request; NULL once there is an answer. */
    instanceId: uuid('instance_id'),
    status: smallint('status'),
    /** JSON text of the answer's headers. */
    headers: text('headers'),
    /** Encrypted for request_id; NULL while the request runs, and where an image job is the answer. */
    answer: bytea('answer'),
    createdAt: moment('created_at').notNull(),
    /** Of the API key. Known once there is an answer, as are the bytes of that. */
    tenantId: uuid('tenant_id'),
    bytes: integer('bytes').notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.keyId, t.keyHash] }),
    index('idempotency_keys_created_at').on(t.createdAt),
  ],
)
