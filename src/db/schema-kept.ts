import {
  bigint,
  boolean,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  sql,
  text,
  uuid,
} from './drizzle.cjs'
import { bytea, moment } from './schema-types.ts'

/**
 * Answers that clients had kept, so that later requests continue them. Each has the items of its own turn,
 * not those before it.
 */
export const keptAnswers = pgTable(
  'kept_answers',
  {
    tenantId: uuid('tenant_id').notNull(),
    /** As the client got it, such as `resp_...`. */
    id: text('id').notNull(),
    keyId: uuid('key_id').notNull(),
    /** The format that it was asked in. Only requests of this format find it. */
    protocol: text('protocol', { enum: ['openai-responses', 'anthropic-messages'] }).notNull(),
    /** The answer that its request continued. */
    previousId: text('previous_id'),
    model: text('model').notNull(),
    /** SHA-256 of the end user that its request named, as the usage log has the name. */
    endUserHash: bytea('end_user_hash'),
    createdAt: moment('created_at').notNull(),
    /** An answer that others continue stays longer: as long as one of them does. */
    expiresAt: moment('expires_at').notNull(),
    /**
     * The process whose request continues it now; only one request may continue an answer of
     * `anthropic-messages`.
     */
    claimedBy: uuid('claimed_by'),
    claimedFor: uuid('claimed_for'),
    /** A request has continued it. */
    isContinued: boolean('is_continued').notNull().default(false),
    /** Of `content`. */
    bytes: integer('bytes').notNull(),
    /** JSON text of KeptTurn, encrypted for tenant and id. */
    content: bytea('content').notNull(),
  },
  (t) => [
    index('kept_answers_created').on(t.tenantId, t.createdAt, t.id),
    index('kept_answers_end_user').on(t.tenantId, t.endUserHash).where(sql`${t.endUserHash} is not null`),
    primaryKey({ columns: [t.tenantId, t.id] }),
    index('kept_answers_expires_at').on(t.expiresAt),
    index('kept_answers_previous').on(t.tenantId, t.previousId).where(sql`${t.previousId} is not null`),
  ],
)

/** Conversations: lists of items under an id, to which each answer in them adds its own. */
export const conversations = pgTable(
  'conversations',
  {
    tenantId: uuid('tenant_id').notNull(),
    /** `conv_...`. */
    id: text('id').notNull(),
    keyId: uuid('key_id').notNull(),
    createdAt: moment('created_at').notNull(),
    /** Each use moves it. */
    expiresAt: moment('expires_at').notNull(),
    /** The process whose request runs in it now, and that request. Only one may. */
    claimedBy: uuid('claimed_by'),
    claimedFor: uuid('claimed_for'),
    /** The position of its next item. */
    nextPosition: integer('next_position').notNull(),
    /** Its items, and the bytes of their contents and of `metadata`. */
    items: integer('items').notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    /** JSON text, encrypted for tenant and id. */
    metadata: bytea('metadata').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.id] }), index('conversations_expires_at').on(t.expiresAt)],
)

export const conversationItems = pgTable(
  'conversation_items',
  {
    tenantId: uuid('tenant_id').notNull(),
    conversationId: text('conversation_id').notNull(),
    position: integer('position').notNull(),
    /** A client may give the same id twice. */
    itemId: text('item_id').notNull(),
    createdAt: moment('created_at').notNull(),
    /**
     * False: clients see it, but requests do not send it, such as reasoning that only its vendor can look up.
     */
    isSent: boolean('is_sent').notNull(),
    /** Of `content`. */
    bytes: integer('bytes').notNull(),
    /** JSON text of the item as requests send it, encrypted for tenant, conversation and item. */
    content: bytea('content').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.conversationId, t.position] }),
    foreignKey({
      columns: [t.tenantId, t.conversationId],
      foreignColumns: [conversations.tenantId, conversations.id],
      name: 'conversation_items_conversation',
    }).onDelete('cascade'),
    index('conversation_items_id').on(t.tenantId, t.conversationId, t.itemId),
  ],
)
