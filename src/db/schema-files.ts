import { bigint, index, pgTable, sql, text, uuid } from './drizzle.cjs'
import { bytea, moment } from './schema-types.ts'

/**
 * Files that clients have uploaded. The bytes are in the storage under `object`. The row is there before its
 * object and goes after it: a process that dies leaves no object without a row. begin_file and finish_file
 * write rows within the bounds of a tenant.
 */
export const files = pgTable(
  'files',
  {
    /** `file-tg` and the 32 hex digits of a uuidv7. */
    id: text('id').primaryKey(),
    tenantId: uuid('tenant_id').notNull(),
    keyId: uuid('key_id').notNull(),
    /** Only a `ready` file exists for clients. `deleted`: its object may be there still. */
    state: text('state', { enum: ['uploading', 'ready', 'deleted'] }).notNull(),
    object: text('object').notNull(),
    /** What follows is known once it is ready. */
    purpose: text('purpose'),
    /** Sealed for this file's id. */
    filename: bytea('filename'),
    mime: text('mime'),
    bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
    sha256: bytea('sha256'),
    /** SHA-256 of the end user that its upload named. */
    endUserHash: bytea('end_user_hash'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at'),
  },
  (t) => [
    index('files_end_user').on(t.tenantId, t.endUserHash).where(sql`${t.endUserHash} is not null`),
    index('files_tenant').on(t.tenantId, t.id),
    index('files_expires_at').on(t.expiresAt),
    index('files_created_at').on(t.createdAt),
    index('files_unfinished').on(t.createdAt).where(sql`${t.state} <> 'ready'`),
  ],
)
