import { pgTable, primaryKey, text } from './drizzle.cjs'
import { bytea, moment } from './schema-types.ts'

/**
 * The master keys, from which all other keys derive. The one with the latest `usedFrom` seals; the others
 * only read.
 */
export const masterKeys = pgTable('master_keys', {
  /** Eight hex digits that do not reveal the master key. */
  id: text('id').primaryKey(),
  createdAt: moment('created_at').notNull(),
  /** The time from which processes seal with it; NULL: they only read with it as yet. */
  usedFrom: moment('used_from'),
})

/**
 * Each master key, encrypted with a key that derives from a SECRET_KEY. AES-256-GCM: nonce (12) | tag (16) |
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
