import { boolean, index, integer, pgTable, smallint, sql, text, uuid } from './drizzle.cjs'
import { bytea, moment, nano } from './schema-types.ts'

/** Channels that fail, for all processes: as long as a row's moment has not come, others are asked before it. */
export const channelBreakers = pgTable('channel_breakers', {
  channelId: uuid('channel_id').primaryKey(),
  /** Times it opened in a row: each doubles how long. */
  openings: integer('openings').notNull(),
  openUntil: moment('open_until').notNull(),
  /** Then one process may try it; whoever does pushes this ahead. */
  probeAt: moment('probe_at').notNull(),
  /** What it failed with last, for people. */
  reason: text('reason').notNull(),
  changedAt: moment('changed_at').notNull(),
})

/**
 * Image generations: the truth of each, whatever the queue says. A job has its request's id, and whoever ends it writes
 * the request's row in the same transaction (finish_image_job).
 */
export const imageJobs = pgTable(
  'image_jobs',
  {
    id: uuid('id').primaryKey(),
    tenantId: uuid('tenant_id').notNull(),
    keyId: uuid('key_id').notNull(),
    groupId: uuid('group_id').notNull(),
    state: text('state', { enum: ['queued', 'running', 'succeeded', 'failed', 'cancelled'] }).notNull(),
    /** Higher first. */
    priority: smallint('priority').notNull(),
    model: text('model').notNull(),
    /** Sealed for this job's id; NULL once it has ended. */
    request: bytea('request'),
    /** JSON text of JobQuote: what it costs, fixed when it was accepted. */
    quote: text('quote').notNull(),
    /** JSON text of the OpenRecord, its body left out. */
    opened: text('opened').notNull(),
    /** Redacted; NULL where nothing is kept, and once it stands in request_payloads. */
    body: text('body'),
    createdAt: moment('created_at').notNull(),
    /** Given to the queue; NULL: more of its tenant's wait than the queue takes. */
    enqueuedAt: moment('enqueued_at'),
    /** Not to be run before; NULL: at once. */
    notBefore: moment('not_before'),
    startedAt: moment('started_at'),
    finishedAt: moment('finished_at'),
    /** Raised by each lease: who holds an older one changes nothing. */
    fence: integer('fence').notNull().default(0),
    /** Those that came to nothing, and the one under way: waiting for a channel counts for none. */
    runs: integer('runs').notNull().default(0),
    leasedUntil: moment('leased_until'),
    /** The channel whose turn it has. */
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
    /** Sealed for this job's id; NULL: nobody is to be told. */
    webhookUrl: bytea('webhook_url'),
    webhookState: text('webhook_state', { enum: ['pending', 'delivered', 'failed'] }),
    webhookTries: smallint('webhook_tries').notNull().default(0),
    /** The next delivery is due then. */
    webhookAt: moment('webhook_at'),
  },
  (t) => [
    index('image_jobs_tenant').on(t.tenantId, t.id),
    // Those of each tenant that wait outside of the queue, in their order, and those that wait within.
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

/** When a channel may begin its next image, where its images per minute are bounded (GCRA). */
export const imageChannelTurns = pgTable('image_channel_turns', {
  channelId: uuid('channel_id').primaryKey(),
  nextAt: moment('next_at').notNull(),
})
