import {
  bigint,
  boolean,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  sql,
  text,
  uuid,
} from '../drizzle.cjs'
import { bytea, moment, nano } from './types.ts'

/**
 * Answers that clients asked to store so that later requests can continue them. Each contains the items of
 * its own turn, not those of earlier turns.
 */
export const keptAnswers = pgTable(
  'kept_answers',
  {
    tenantId: uuid('tenant_id').notNull(),
    /** The id that the client received, such as `resp_...`. */
    id: text('id').notNull(),
    keyId: uuid('key_id').notNull(),
    /** The format of its request. Only requests in this format can find it. */
    protocol: text('protocol').notNull(),
    /** The answer that its request continued. */
    previousId: text('previous_id'),
    model: text('model').notNull(),
    /** SHA-256 of the end user named in its request, in the form used by the usage log. */
    endUserHash: bytea('end_user_hash'),
    createdAt: moment('created_at').notNull(),
    /** An answer that others continue is kept as long as any of them. */
    expiresAt: moment('expires_at').notNull(),
    /**
     * The process whose request is continuing it, for formats in which an answer can only be continued by one
     * request.
     */
    claimedBy: uuid('claimed_by'),
    claimedFor: uuid('claimed_for'),
    /** Whether a request has continued it. */
    isContinued: boolean('is_continued').notNull().default(false),
    /** The size of `content`. */
    bytes: integer('bytes').notNull(),
    /** JSON text of KeptTurn, encrypted for the tenant and id. */
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

/** Conversations: lists of items under an id. Each answer in a conversation appends its own items. */
export const conversations = pgTable(
  'conversations',
  {
    tenantId: uuid('tenant_id').notNull(),
    /** An id such as `conv_...`. */
    id: text('id').notNull(),
    keyId: uuid('key_id').notNull(),
    createdAt: moment('created_at').notNull(),
    /** Extended by each use. */
    expiresAt: moment('expires_at').notNull(),
    /** The process whose request is running in it, and that request. Only one can run at a time. */
    claimedBy: uuid('claimed_by'),
    claimedFor: uuid('claimed_for'),
    /** The position of the next item. */
    nextPosition: integer('next_position').notNull(),
    /** The number of its items, and the total size of their contents and `metadata`. */
    items: integer('items').notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
    /** JSON text, encrypted for the tenant and id. */
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
    /** Not unique, because a client can use the same id twice. */
    itemId: text('item_id').notNull(),
    createdAt: moment('created_at').notNull(),
    /**
     * False: the item is visible to clients but is not sent with requests, for example reasoning that only
     * its vendor can look up.
     */
    isSent: boolean('is_sent').notNull(),
    /** The size of `content`. */
    bytes: integer('bytes').notNull(),
    /** JSON text of the item as sent with requests, encrypted for the tenant, conversation and item. */
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

/**
 * Files uploaded by clients. The bytes are in the storage, under `object`. The row is created before the
 * object and deleted after it, so a process that dies leaves no object without a row. begin_file and
 * finish_file write rows within a tenant's limits.
 */
export const files = pgTable(
  'files',
  {
    /** `file-tg` followed by the 32 hex digits of a uuidv7. */
    id: text('id').primaryKey(),
    tenantId: uuid('tenant_id').notNull(),
    keyId: uuid('key_id').notNull(),
    /** Only a `ready` file is visible to clients. `deleted`: its object may still exist. */
    state: text('state', { enum: ['uploading', 'ready', 'deleted'] }).notNull(),
    object: text('object').notNull(),
    /** The following columns are set once the file is ready. */
    purpose: text('purpose'),
    /** Sealed for this file's id. */
    filename: bytea('filename'),
    mime: text('mime'),
    bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
    sha256: bytea('sha256'),
    /** SHA-256 of the end user named in its upload. */
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

/**
 * Jobs: images, and answers generated in the background, which are the jobs with a row in
 * `background_answers`. This table has a job's state; the queue only has its id, which is also the id of its
 * request. finish_job ends a job and writes its request's row in one transaction.
 */
export const jobs = pgTable(
  'jobs',
  {
    id: uuid('id').primaryKey(),
    tenantId: uuid('tenant_id').notNull(),
    keyId: uuid('key_id').notNull(),
    groupId: uuid('group_id').notNull(),
    state: text('state', { enum: ['queued', 'running', 'succeeded', 'failed', 'cancelled'] }).notNull(),
    /** Jobs with a higher priority run first. */
    priority: smallint('priority').notNull(),
    model: text('model').notNull(),
    /** Encrypted for this job's id; NULL after the job has ended. */
    request: bytea('request'),
    /** JSON text of JobQuote: the price, fixed when the job was accepted. */
    quote: text('quote').notNull(),
    /** JSON text of OpenRecord, without the body. */
    opened: text('opened').notNull(),
    /** Redacted; NULL if no body is stored, or once it is in request_payloads. */
    body: text('body'),
    createdAt: moment('created_at').notNull(),
    /**
     * When the job was added to the queue; NULL: it waits outside, because the queue already has enough jobs
     * of its tenant.
     */
    enqueuedAt: moment('enqueued_at'),
    /** The job must not run before this time; NULL: it can run at once. */
    notBefore: moment('not_before'),
    startedAt: moment('started_at'),
    finishedAt: moment('finished_at'),
    /** Increased by each lease, so that a worker with an older one cannot change the job. */
    fence: integer('fence').notNull().default(0),
    /** The number of failed runs plus the current one. Waiting for a channel is not a run. */
    runs: integer('runs').notNull().default(0),
    leasedUntil: moment('leased_until'),
    /** The channel of which it holds a turn. */
    channelId: uuid('channel_id'),
    cancelRequested: boolean('cancel_requested').notNull().default(false),
    /** JSON text of AttemptRecord[]. */
    attempts: text('attempts').notNull().default('[]'),
    /** JSON text of JobPartial[]. */
    partials: text('partials').notNull().default('[]'),
    /** JSON text of JobResult. */
    result: text('result'),
    /** JSON text of JobError. */
    error: text('error'),
    cost: nano('cost_nano'),
    /** Encrypted for this job's id; NULL: no webhook. */
    webhookUrl: bytea('webhook_url'),
    webhookState: text('webhook_state', { enum: ['pending', 'delivered', 'failed'] }),
    webhookTries: smallint('webhook_tries').notNull().default(0),
    /** When the next delivery is due. */
    webhookAt: moment('webhook_at'),
  },
  (t) => [
    index('jobs_tenant').on(t.tenantId, t.id),
    // Each tenant's jobs that wait outside the queue, in order, and those that wait in it.
    index('jobs_waiting')
      .on(t.tenantId, t.priority.desc(), t.id)
      .where(sql`${t.state} = 'queued' and ${t.enqueuedAt} is null`),
    index('jobs_enqueued')
      .on(t.tenantId, t.enqueuedAt)
      .where(sql`${t.state} = 'queued' and ${t.enqueuedAt} is not null`),
    index('jobs_running').on(t.channelId, t.leasedUntil).where(sql`${t.state} = 'running'`),
    index('jobs_webhook').on(t.webhookAt).where(sql`${t.webhookState} = 'pending'`),
    index('jobs_created_at').on(t.createdAt),
  ],
)

/**
 * The data of a background answer in addition to its job. It is a separate table because a migration that
 * changes `jobs` would have to wait for all writers of `jobs` and of the usage log.
 */
export const backgroundAnswers = pgTable('background_answers', {
  jobId: uuid('job_id').primaryKey(),
  /** The current object for its client, encrypted for this job's id. */
  answer: bytea('answer').notNull(),
  /** The number of stored events. */
  events: integer('events').notNull(),
  tenantId: uuid('tenant_id'),
  /** The size of the job's request; 0 after the job has ended. */
  bytes: integer('bytes').notNull().default(0),
})

/** Events of background answers, in the order and the chunks in which they were stored. */
export const answerEvents = pgTable(
  'answer_events',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => backgroundAnswers.jobId, { onDelete: 'cascade' }),
    /** The sequence number of the first event in the chunk. */
    first: integer('first').notNull(),
    /** A JSON array of the events' texts, encrypted for this job and sequence number. */
    content: bytea('content').notNull(),
  },
  (t) => [primaryKey({ columns: [t.jobId, t.first] })],
)

/** Periodic sweeps that any process can run. claim_sweep gives each to one process at a time. */
export const sweeps = pgTable('sweeps', {
  name: text('name').primaryKey(),
  /** No process sweeps before this time. */
  dueAt: moment('due_at').notNull(),
})

/** When a channel with limited images per minute can start its next image (GCRA). */
export const imageChannelTurns = pgTable('image_channel_turns', {
  channelId: uuid('channel_id').primaryKey(),
  nextAt: moment('next_at').notNull(),
})
