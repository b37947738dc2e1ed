import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  sql,
  text,
  uniqueIndex,
  uuid,
} from '../drizzle.cjs'
import { settingsOfGroups } from '../settings/group-settings.ts'
import { settingsOfKeys } from '../settings/key-settings.ts'
import { columnsOf } from '../settings/setting.ts'
import { settingsOfTenants } from '../settings/tenant-settings.ts'
import { bytea, managedBy, moment, nano } from './types.ts'

export const tenants = pgTable('tenants', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull().unique(),
  ...columnsOf(settingsOfTenants),
  managedBy: managedBy(),
  createdAt: moment('created_at').notNull().default(sql`now()`),
})

/** One account per tenant, with the tenant's id. Requests of a `limited` account need a reservation. */
export const accounts = pgTable('accounts', {
  id: uuid('id')
    .primaryKey()
    .references(() => tenants.id),
  limited: boolean('limited').notNull(),
  /** The sum of the account's entries, in nano-USD. An unlimited account can go below zero. */
  balance: nano('balance_nano').notNull().default(sql`0`),
  /** The sum of the account's reservations, in nano-USD. */
  reserved: nano('reserved_nano').notNull().default(sql`0`),
})

export const groups = pgTable('key_groups', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull().unique(),
  ...columnsOf(settingsOfGroups),
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
    /** The first characters of the secret, by which people can recognise the key. */
    hint: text('hint').notNull(),
    /** The secret before the last rotation. It remains valid until `formerSecretUntil`. */
    formerSecretHash: bytea('former_secret_hash'),
    formerSecretUntil: moment('former_secret_until'),
    ...columnsOf(settingsOfKeys),
    /**
     * The key that created this one. The parent's limits, budgets and restrictions also apply to this key.
     * NULL: created by an admin or a file.
     */
    parentId: uuid('parent_id'),
    /** Whether a member of its tenant has disabled it, in which case members can enable it again. */
    disabledByMember: boolean('disabled_by_member').notNull().default(false),
    /** When it was permanently disabled. */
    revokedAt: moment('revoked_at'),
    managedBy: managedBy(),
    createdAt: moment('created_at').notNull().default(sql`now()`),
    /** The value of revision.keys at the last change, set by a trigger. */
    revision: bigint('revision', { mode: 'number' }).notNull().default(0),
  },
  (t) => [
    uniqueIndex('keys_secret_hash').on(t.secretHash),
    index('keys_former_secret_hash').on(t.formerSecretHash).where(sql`${t.formerSecretHash} is not null`),
    uniqueIndex('keys_tenant_name').on(t.tenantId, t.name),
    index('keys_revision').on(t.revision),
    // Finds the tenants of a group.
    index('keys_group_tenant').on(t.groupId, t.tenantId).where(sql`${t.revokedAt} is null`),
    index('keys_parent').on(t.parentId).where(sql`${t.parentId} is not null`),
    index('keys_revoked_sub_keys')
      .on(t.revokedAt)
      .where(sql`${t.parentId} is not null and ${t.revokedAt} is not null`),
  ],
)

/**
 * Keys that a person has blocked. Neither gateway.yaml nor an import changes these rows, except to let them
 * follow a secret.
 */
export const keyBlocks = pgTable('key_blocks', {
  /** Its sub-keys are blocked too. */
  keyId: uuid('key_id')
    .primaryKey()
    .references(() => keys.id, { onDelete: 'cascade' }),
  /**
   * The hashes, in hex, of secrets that the key had while it was blocked. Another key that gets one of them
   * is blocked too.
   */
  secretHashes: text('secret_hashes').array().notNull(),
  /** For people; clients never see it. */
  reason: text('reason').notNull(),
  blockedAt: moment('blocked_at').notNull(),
  /** The name of the person at that time. */
  blockedBy: text('blocked_by').notNull(),
  /** A member of the key's tenant set it: members may lift it. */
  blockedByMember: boolean('blocked_by_member').notNull().default(false),
})

/** One row per POST with an Idempotency-Key, with its answer once there is one. */
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
    /** Encrypted for request_id. NULL while the request runs, or if the answer is an image job. */
    answer: bytea('answer'),
    createdAt: moment('created_at').notNull(),
    /** The API key's tenant. Known once there is an answer, as is its size. */
    tenantId: uuid('tenant_id'),
    bytes: integer('bytes').notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.keyId, t.keyHash] }),
    index('idempotency_keys_created_at').on(t.createdAt),
  ],
)

const role = () => text('role', { enum: ['owner', 'admin', 'viewer', 'member'] }).notNull()
/** A member belongs to exactly one tenant; other users belong to none. */
const memberHasTenant = (name: string) => check(name, sql`(role = 'member') = (tenant_id IS NOT NULL)`)
const tenant = () => uuid('tenant_id').references(() => tenants.id)

/** The users of the admin API. */
export const users = pgTable(
  'users',
  {
    id: uuid('id').primaryKey(),
    /** In lower case. */
    email: text('email').notNull(),
    role: role(),
    tenantId: tenant(),
    /** A scrypt hash; NULL: the user can only sign in by single sign-on. */
    passwordHash: text('password_hash'),
    /** Encrypted for the user; NULL: no second factor. */
    totpSecret: bytea('totp_secret'),
    /** NULL: the user has not yet entered a code of `totp_secret`, so no code is required. */
    totpConfirmedAt: moment('totp_confirmed_at'),
    /** The last time step whose code was used, because each code works only once. */
    totpStep: bigint('totp_step', { mode: 'number' }).notNull().default(0),
    disabledAt: moment('disabled_at'),
    lastSignInAt: moment('last_sign_in_at'),
    createdAt: moment('created_at').notNull().default(sql`now()`),
    /** Increased by each change that an owner makes. Used as the ETag. */
    version: integer('version').notNull().default(1),
  },
  (t) => [uniqueIndex('users_email').on(t.email), memberHasTenant('users_member_has_tenant')],
)

/** Codes that replace the second factor. Each works once. */
export const recoveryCodes = pgTable(
  'user_recovery_codes',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** SHA-256 of the code. */
    codeHash: bytea('code_hash').notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.codeHash] })],
)

/** The accounts of users with single sign-on issuers. */
export const identities = pgTable(
  'user_identities',
  {
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: moment('created_at').notNull().default(sql`now()`),
  },
  (t) => [primaryKey({ columns: [t.issuer, t.subject] }), index('user_identities_user').on(t.userId)],
)

/** One row per browser that is signed in. */
export const userSessions = pgTable(
  'user_sessions',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** SHA-256 of the cookie's value. */
    tokenHash: bytea('token_hash').notNull(),
    method: text('method', { enum: ['password', 'oidc'] }).notNull(),
    address: text('address').notNull(),
    userAgent: text('user_agent').notNull(),
    createdAt: moment('created_at').notNull(),
    usedAt: moment('used_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (t) => [
    uniqueIndex('user_sessions_token').on(t.tokenHash),
    index('user_sessions_user').on(t.userId),
    index('user_sessions_expires').on(t.expiresAt),
  ],
)

/** Links that work once: to become the first owner, to join, or to set a new password. */
export const userLinks = pgTable(
  'user_links',
  {
    id: uuid('id').primaryKey(),
    purpose: text('purpose', { enum: ['setup', 'invitation', 'reset'] }).notNull(),
    /** SHA-256 of the link's token. */
    tokenHash: bytea('token_hash').notNull(),
    /** For an invitation: the user that it creates. */
    email: text('email'),
    role: text('role', { enum: ['owner', 'admin', 'viewer', 'member'] }),
    tenantId: tenant(),
    /** For a reset: the user. */
    userId: uuid('user_id').references(() => users.id, { onDelete: 'cascade' }),
    /** Who created it. */
    madeBy: text('made_by').notNull(),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    usedAt: moment('used_at'),
  },
  (t) => [uniqueIndex('user_links_token').on(t.tokenHash)],
)

/** Tokens for programs that call the admin API. */
export const apiTokens = pgTable(
  'api_tokens',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    /** NULL: created by the operator, with ADMIN_TOKEN. */
    userId: uuid('user_id').references(() => users.id, { onDelete: 'cascade' }),
    /** The token has at most these permissions, and at most those of its user. */
    role: role(),
    tenantId: tenant(),
    scopes: text('scopes').array().notNull(),
    /** SHA-256 of the token. */
    tokenHash: bytea('token_hash').notNull(),
    /** The first characters, by which people can recognise it. */
    hint: text('hint').notNull(),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at'),
    usedAt: moment('used_at'),
    revokedAt: moment('revoked_at'),
  },
  (t) => [
    uniqueIndex('api_tokens_token').on(t.tokenHash),
    index('api_tokens_user').on(t.userId),
    memberHasTenant('api_tokens_member_has_tenant'),
  ],
)

/** Sign-in attempts by account and by address, counted over all processes. */
export const signInAttempts = pgTable(
  'sign_in_attempts',
  {
    /** SHA-256 of the account or the address. */
    subject: bytea('subject').primaryKey(),
    attempts: integer('attempts').notNull(),
    /** When the count starts over. */
    resetsAt: moment('resets_at').notNull(),
  },
  (t) => [index('sign_in_attempts_resets').on(t.resetsAt)],
)

/** One line per change made by an admin or by gateway.yaml. Append-only. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: uuid('id').primaryKey(),
    createdAt: moment('created_at').notNull(),
    actorKind: text('actor_kind', { enum: ['operator', 'user', 'token', 'key', 'file', 'system'] }).notNull(),
    /** The id of the user or API token; NULL: operator, file or system. */
    actorId: uuid('actor_id'),
    userId: uuid('user_id'),
    /** The name at that time. */
    actorName: text('actor_name').notNull(),
    address: text('address'),
    userAgent: text('user_agent'),
    requestId: uuid('request_id'),
    /** Resource and verb, such as `key.rotate`. */
    action: text('action').notNull(),
    resource: text('resource').notNull(),
    resourceId: text('resource_id').notNull(),
    resourceName: text('resource_name'),
    tenantId: uuid('tenant_id'),
    /** Without secrets. NULL: the resource did not exist yet, or no longer exists. */
    before: jsonb('before'),
    after: jsonb('after'),
  },
  (t) => [
    index('audit_log_resource').on(t.resource, t.resourceId, t.id),
    index('audit_log_tenant').on(t.tenantId, t.id),
    index('audit_log_user').on(t.userId, t.id),
    index('audit_log_created_at').on(t.createdAt),
  ],
)

/** Answers of the admin API to calls with an Idempotency-Key, written in the transaction of the change. */
export const adminAnswers = pgTable(
  'admin_answers',
  {
    /** The user who made the call; the nil UUID means the operator. */
    userId: uuid('user_id').notNull(),
    /** SHA-256 of the header's value; for an API token, the token's id comes first. */
    keyHash: bytea('key_hash').notNull(),
    /** SHA-256 of method, path and body. */
    fingerprint: bytea('fingerprint').notNull(),
    requestId: uuid('request_id').notNull(),
    /** NULL only within the transaction that creates the row. */
    status: smallint('status'),
    /** JSON of the answer, encrypted for request_id because it can contain a secret. */
    answer: bytea('answer'),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.keyHash] }), index('admin_answers_created_at').on(t.createdAt)],
)

/**
 * Saved filters of console pages. Each belongs to one user; a shared one is also visible to the other users
 * of its tenant.
 */
export const savedViews = pgTable(
  'saved_views',
  {
    id: uuid('id').primaryKey(),
    /** The nil UUID means the operator, who uses ADMIN_TOKEN. */
    userId: uuid('user_id').notNull(),
    /** The name at that time, for people. */
    userName: text('user_name').notNull(),
    /** The tenant whose page it is; NULL: a page for operators, which shows all tenants. */
    tenantId: uuid('tenant_id').references(() => tenants.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    /** The console page, such as `log`. */
    page: text('page').notNull(),
    /** The page's parameters by name, each a text or a list of texts. */
    query: jsonb('query').notNull(),
    shared: boolean('shared').notNull().default(false),
    createdAt: moment('created_at').notNull(),
    changedAt: moment('changed_at').notNull(),
  },
  (t) => [
    index('saved_views_user').on(t.userId, t.page),
    index('saved_views_shared').on(t.tenantId, t.page).where(sql`${t.shared}`),
  ],
)

/**
 * The master keys, from which all other keys are derived. The one with the latest `usedFrom` is used to seal;
 * the others only to open.
 */
export const masterKeys = pgTable('master_keys', {
  /** Eight hex digits that do not reveal the master key. */
  id: text('id').primaryKey(),
  createdAt: moment('created_at').notNull(),
  /** When processes start to seal with it; NULL: so far they only open with it. */
  usedFrom: moment('used_from'),
})

/**
 * Each master key, encrypted with a key derived from a SECRET_KEY. AES-256-GCM: nonce (12) | tag (16) |
 * ciphertext.
 */
export const masterKeyWrappings = pgTable(
  'master_key_wrappings',
  {
    masterId: text('master_id')
      .notNull()
      .references(() => masterKeys.id),
    /** The id of the SECRET_KEY that opens it. */
    wrappedBy: text('wrapped_by').notNull(),
    wrapped: bytea('wrapped').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.masterId, t.wrappedBy] })],
)

/**
 * The storage that each tenant uses: the sum of `bytes` over its kept_answers, conversations, files,
 * idempotency_keys and background_answers. book_storage, a trigger of these tables, updates it in the same
 * statement that stores or deletes.
 */
export const tenantStorage = pgTable('tenant_storage', {
  tenantId: uuid('tenant_id').primaryKey(),
  bytes: bigint('bytes', { mode: 'number' }).notNull(),
})

/** One row: the maximum number of bytes that a tenant can store. Each start writes its own value. */
export const storageQuota = pgTable('storage_quota', {
  id: boolean('id').primaryKey().default(true),
  bytesMax: bigint('bytes_max', { mode: 'number' }).notNull(),
})
