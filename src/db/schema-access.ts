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
