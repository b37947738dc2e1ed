import { boolean, index, integer, pgTable, primaryKey, smallint, sql, text, uuid } from './drizzle.cjs'
import { bytea, moment, nano } from './schema-types.ts'

/**
 * Jobs: images, and answers that are made in the background. The table has the name of the first kind; a job
 * that has a row of `background_answers` is of the other. It has the state of a job; the queue has only its
 * id, which is the id of its request. finish_image_job ends a job and writes the row of its request in one
 * transaction.
 */
export const imageJobs = pgTable(
  'image_jobs',
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
    /** Failed runs, and the present one. Waiting for a channel is not a run. */
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
    index('image_jobs_tenant').on(t.tenantId, t.id),
    // The jobs of each tenant that wait outside of the queue, in their order, and those that wait in it.
    index('image_jobs_waiting')
      .on(t.tenantId, t.priority.desc(), t.id)
      .where(sql`${t.state} = 'queued' and ${t.enqueuedAt} is null`),
    index('image_jobs_enqueued')
      .on(t.tenantId, t.enqueuedAt)
      .where(sql`${t.state} = 'queued' and ${t.enqueuedAt} is not null`),
    index('image_jobs_running').on(t.channelId, t.leasedUntil).where(sql`${t.state} = 'running'`),
    index('image_jobs_webhook').on(t.webhookAt).where(sql`${t.webhookState} = 'pending'`),
    index('image_jobs_created_at').on(t.createdAt),
  ],
)

/**
 * What an answer that is made in the background has beside its job. A table of its own: to change
 * `image_jobs`, a migration would have to wait for those who write to it and to the usage log.
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
