import {
  bigint,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  sql,
  text,
  uniqueIndex,
  uuid,
} from './drizzle.cjs'
import { tenants } from './schema-access.ts'
import { bytea, moment } from './schema-types.ts'

const role = () => text('role', { enum: ['owner', 'admin', 'viewer', 'member'] }).notNull()
/** A member belongs to one tenant, everybody else to none. */
const memberHasTenant = (name: string) => check(name, sql`(role = 'member') = (tenant_id IS NOT NULL)`)
const tenant = () => uuid('tenant_id').references(() => tenants.id)

/** People who use the admin API. */
export const users = pgTable(
  'users',
  {
    id: uuid('id').primaryKey(),
    /** In lower case. */
    email: text('email').notNull(),
    role: role(),
    tenantId: tenant(),
    /** scrypt; NULL: the user signs in by single sign-on only. */
    passwordHash: text('password_hash'),
    /** Encrypted for the user; NULL: no second factor. */
    totpSecret: bytea('totp_secret'),
    /** NULL: the user has not yet shown a code of `totp_secret`, so it is not asked for. */
    totpConfirmedAt: moment('totp_confirmed_at'),
    /** The last time step whose code was used: a code works once. */
    totpStep: bigint('totp_step', { mode: 'number' }).notNull().default(0),
    disabledAt: moment('disabled_at'),
    lastSignInAt: moment('last_sign_in_at'),
    createdAt: moment('created_at').notNull().default(sql`now()`),
    /** Raised by each change by an owner: its ETag. */
    version: integer('version').notNull().default(1),
  },
  (t) => [uniqueIndex('users_email').on(t.email), memberHasTenant('users_member_has_tenant')],
)

/** Codes that each work once in place of a code of the second factor. */
export const recoveryCodes = pgTable(
  'user_recovery_codes',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** SHA-256. */
    codeHash: bytea('code_hash').notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.codeHash] })],
)

/** The accounts of users at issuers of single sign-on. */
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

/** A row for each browser that is signed in. */
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

/** Links that work once: to become the first owner, to join, to set a new password. */
export const userLinks = pgTable(
  'user_links',
  {
    id: uuid('id').primaryKey(),
    purpose: text('purpose', { enum: ['setup', 'invitation', 'reset'] }).notNull(),
    /** SHA-256 of the link's token. */
    tokenHash: bytea('token_hash').notNull(),
    /** Of an invitation: the user that it makes. */
    email: text('email'),
    role: text('role', { enum: ['owner', 'admin', 'viewer', 'member'] }),
    tenantId: tenant(),
    /** Of a reset. */
    userId: uuid('user_id').references(() => users.id, { onDelete: 'cascade' }),
    /** Who made it. */
    madeBy: text('made_by').notNull(),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    usedAt: moment('used_at'),
  },
  (t) => [uniqueIndex('user_links_token').on(t.tokenHash)],
)

/** Tokens of programs that call the admin API. */
export const apiTokens = pgTable(
  'api_tokens',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    /** NULL: the operator made it, with ADMIN_TOKEN. */
    userId: uuid('user_id').references(() => users.id, { onDelete: 'cascade' }),
    /** It may do no more than this, and no more than its user. */
    role: role(),
    tenantId: tenant(),
    scopes: text('scopes').array().notNull(),
    /** SHA-256. */
    tokenHash: bytea('token_hash').notNull(),
    /** The first characters, by which people recognise it. */
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

/** Attempts to sign in, counted over all processes: by account and by address. */
export const signInAttempts = pgTable(
  'sign_in_attempts',
  {
    /** SHA-256 of the account or the address. */
    subject: bytea('subject').primaryKey(),
    attempts: integer('attempts').notNull(),
    /** The count begins anew at this moment. */
    resetsAt: moment('resets_at').notNull(),
  },
  (t) => [index('sign_in_attempts_resets').on(t.resetsAt)],
)
