import { bigint, boolean, pgTable, uuid } from './drizzle.cjs'

/**
 * What each tenant leaves in storage: the sum of `bytes` over its kept_answers, conversations, files,
 * idempotency_keys and background_answers. book_storage, a trigger of these tables, moves it in the statement
 * that stores or deletes.
 */
export const tenantStorage = pgTable('tenant_storage', {
  tenantId: uuid('tenant_id').primaryKey(),
  bytes: bigint('bytes', { mode: 'number' }).notNull(),
})

/** One row: the most bytes that a tenant may leave in storage. Each start writes its own. */
export const storageQuota = pgTable('storage_quota', {
  id: boolean('id').primaryKey().default(true),
  bytesMax: bigint('bytes_max', { mode: 'number' }).notNull(),
})
