import { index, jsonb, pgTable, primaryKey, smallint, text, uuid } from './drizzle.cjs'
import { bytea, moment } from './schema-types.ts'

/** One line for each change that an admin, or gateway.yaml, has made. Append-only. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: uuid('id').primaryKey(),
    createdAt: moment('created_at').notNull(),
    actorKind: text('actor_kind', { enum: ['operator', 'user', 'token', 'key', 'file', 'system'] }).notNull(),
    /** Id of the user, or of the API token; NULL: operator, file or system. */
    actorId: uuid('actor_id'),
    userId: uuid('user_id'),
    /** The name then. */
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
    /** Without secrets; NULL: the resource was not, or is no more. */
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

/** Answers of the admin API to calls with an Idempotency-Key. The transaction of the change writes them. */
export const adminAnswers = pgTable(
  'admin_answers',
  {
    /** The user behind the call; the nil UUID: the operator. */
    userId: uuid('user_id').notNull(),
    /** SHA-256 of the header's value; of an API token, behind the token's id. */
    keyHash: bytea('key_hash').notNull(),
    /** SHA-256 of method, path and body. */
    fingerprint: bytea('fingerprint').notNull(),
    requestId: uuid('request_id').notNull(),
    /** NULL in the transaction that makes it only. */
    status: smallint('status'),
    /** JSON of the answer, encrypted for request_id: it may have a secret. */
    answer: bytea('answer'),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.keyHash] }), index('admin_answers_created_at').on(t.createdAt)],
)
