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
    /** Only a `ready` file exists for clients. `deleted`: its object may still exist. */
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

/**
 * Jobs: images, and answers that are made in the background. A job that has a row of `background_answers` is
 * of the second kind. It has the state of a job; the queue has only its id, which is the id of its request.
 * finish_job ends a job and writes the row of its request in one transaction.
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
    /** Encrypted for this job's id; NULL once it has ended. */
    request: bytea('request'),
    /** JSON text of JobQuote: its price, fixed when the job was accepted. */
    quote: text('quote').notNull(),
    /** JSON text of the OpenRecord, without its body. */
    opened: text('opened').notNull(),
    /** Redacted; NULL where no body is kept, and once it is in request_payloads. */
    body: text('body'),
    createdAt: moment('created_at').notNull(),
    /**
     * The time at which the queue got it; NULL: it waits outside, because the queue has enough jobs of its
     * tenant.
     */
    enqueuedAt: moment('enqueued_at'),
    /** The job must not run before this time; NULL: it may run at once. */
    notBefore: moment('not_before'),
    startedAt: moment('started_at'),
    finishedAt: moment('finished_at'),
    /** Each lease raises it: a worker with an older one cannot change the job. */
    fence: integer('fence').notNull().default(0),
    /** Failed runs, and the current one. Waiting for a channel is not a run. */
    runs: integer('runs').notNull().default(0),
    leasedUntil: moment('leased_until'),
    /** The channel that it holds a turn of. */
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
    /** Encrypted for this job's id; NULL: there is no webhook. */
    webhookUrl: bytea('webhook_url'),
    webhookState: text('webhook_state', { enum: ['pending', 'delivered', 'failed'] }),
    webhookTries: smallint('webhook_tries').notNull().default(0),
    /** When the next delivery is due. */
    webhookAt: moment('webhook_at'),
  },
  (t) => [
    index('jobs_tenant').on(t.tenantId, t.id),
    // The jobs of each tenant that wait outside of the queue, in their order, and those that wait in it.
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
 * What an answer that is made in the background has beside its job. A table of its own: to change `jobs`, a
 * migration would have to wait for those who write to it and to the usage log.
 */
export const backgroundAnswers = pgTable('background_answers', {
  jobId: uuid('job_id').primaryKey(),
  /** The object that its client gets, as it is now. Encrypted for this job's id. */
  answer: bytea('answer').notNull(),
  /** How many of its events are kept. */
  events: integer('events').notNull(),
  tenantId: uuid('tenant_id'),
  /** Of the job's request; 0 once it has ended. */
  bytes: integer('bytes').notNull().default(0),
})

/** Events of answers that are made in the background, in the order and the pieces in which they were kept. */
export const answerEvents = pgTable(
  'answer_events',
  {
    jobId: uuid('job_id')
      .notNull()
      .references(() => backgroundAnswers.jobId, { onDelete: 'cascade' }),
    /** The sequence number of its first event. */
    first: integer('first').notNull(),
    /** A JSON array of the events' texts, encrypted for this job and this number. */
    content: bytea('content').notNull(),
  },
  (t) => [primaryKey({ columns: [t.jobId, t.first] })],
)

/** Sweeps that every process would make. claim_sweep gives one to one process at a time. */
export const sweeps = pgTable('sweeps', {
  name: text('name').primaryKey(),
  /** No process sweeps before this time. */
  dueAt: moment('due_at').notNull(),
})

/** When a channel with bounded images per minute may begin its next image (GCRA). */
export const imageChannelTurns = pgTable('image_channel_turns', {
  channelId: uuid('channel_id').primaryKey(),
  nextAt: moment('next_at').notNull(),
})
