import type postgres from 'postgres'
import { GatewayError } from '../../canonical/error.ts'
import type { Channel } from '../../catalog/snapshot.ts'
import type { Database } from '../../db/database.ts'
import { inTime } from '../../db/in-time.ts'
import type { AttemptRecord, CloseRecord, OpenRecord } from '../../ledger/record.ts'
import { attemptRowsJson, jsonText, requestRowJson } from '../../ledger/row-json.ts'
import type { ImageJob, JobError, JobPartial, JobQuote, JobResult, JobState } from './job.ts'
import { type JobRow, jobColumns, jobOf, quoteText } from './rows.ts'

/** Encrypts what is kept for a job only as long as it runs, bound to what it is. */
export interface Seal {
  seal(text: string, owner: string): Buffer
  open(sealed: Buffer, owner: string): string
}

export interface JobsOptions {
  database: Database
  seal: Seal
  /** How long a statement may take. */
  waitMs: number
  /** A tenant's jobs in the queue at a time. */
  queueWindow: number
  /** A tenant's jobs that wait outside of it. */
  waitingMax: number
  leaseMs: number
}

export interface NewJob {
  opened: OpenRecord
  /** Redacted; null where nothing is kept. */
  body: string | null
  tenantId: string
  keyId: string
  groupId: string
  priority: number
  model: string
  quote: JobQuote
  /** The client's own body. Sealed, and gone when the job has ended. */
  request: string
  webhook: Webhook | undefined
  /** To be held; undefined where the tenant's money is not limited. */
  amountNano: bigint | undefined
}

/** Who is told of a job's end. */
export interface Webhook {
  url: string
  /** Where the links of what it is told lead, without a trailing slash. */
  origin: string
}

export interface Acceptance {
  verdict: 'accepted' | 'insufficient' | 'full'
  enqueue: Enqueued[]
}

export type Claim =
  /**
   * `request` gives the client's body; it throws where that was sealed with another SECRET_KEY. `enqueue`: jobs that may
   * now be given to the queue.
   */
  | { verdict: 'claimed'; lease: Lease; job: ImageJob; request: () => string; enqueue: Enqueued[] }
  /** Another worker has it, or it is not to be run yet. */
  | { verdict: 'held' | 'early'; untilMs: number }
  | { verdict: 'ended' | 'gone' }

/** The right to change a job, until another worker takes it. */
export interface Lease {
  id: string
  fence: number
}

/** How a job ended: what its client gets, and what its row and its account do. */
export interface JobEnding {
  state: Exclude<JobState, 'queued' | 'running'>
  close: CloseRecord
  /** Images delivered. */
  images: number
  result: JobResult | null
  error: JobError | null
}

/**
 * The truth of image jobs. Every change is one statement, and each says by fence or state what it believed. What a client
 * or an upstream call waits for rejects `unavailable` while Postgres is away.
 */
export class ImageJobs {
  readonly #options: JobsOptions

  constructor(options: JobsOptions) {
    this.#options = options
  }

  /**
   * Hold the money and keep the job. `insufficient`: the account cannot bear it; `full`: as many of the tenant's jobs wait
   * as may. Asked again after a lost answer, it changes nothing. Rejects when Postgres does not answer.
   */
  async accept(job: NewJob): Promise<Acceptance> {
    const { seal, queueWindow, waitingMax } = this.#options
    const { id } = job.opened
    const row = jsonText({
      id,
      tenant_id: job.tenantId,
      key_id: job.keyId,
      group_id: job.groupId,
      priority: job.priority,
      model: job.model,
      quote: quoteText(job.quote),
      opened: jsonText({ ...job.opened, body: null }),
      body: job.body,
    })
    const sealed = seal.seal(job.request, `${id} request`)
    const webhook = job.webhook === undefined ? null : seal.seal(JSON.stringify(job.webhook), `${id} webhook`)
    const [answer] = await this.#ask<{ verdict: Acceptance['verdict']; enqueue: string[] }[]>`
      SELECT verdict, enqueue FROM accept_image_job(${row}::text::jsonb, ${sealed}, ${webhook},
        ${job.amountNano?.toString() ?? null}::bigint, ${queueWindow}::integer, ${waitingMax}::integer)`
    if (answer === undefined) throw new Error('accept_image_job answered nothing')
    return { verdict: answer.verdict, enqueue: answer.enqueue.map(enqueuedOf) }
  }

  /** Take a job to run it. */
  async claim(id: string): Promise<Claim> {
    const { database, seal, queueWindow, leaseMs } = this.#options
    const [answer] = await this.#ask<
      { verdict: Claim['verdict']; fence: number | null; until: Date | null; enqueue: string[] }[]
    >`SELECT verdict, fence, until, enqueue FROM claim_image_job(${id}, ${leaseMs}::integer, ${queueWindow}::integer)`
    if (answer === undefined) throw new Error('claim_image_job answered nothing')
    const { verdict } = answer
    if (verdict === 'ended' || verdict === 'gone') return { verdict }
    if (verdict !== 'claimed') return { verdict, untilMs: answer.until?.getTime() ?? Date.now() }
    const [row] = await this.#ask<(JobRow & { request: Buffer | null })[]>`
      SELECT ${jobColumns(database.sql)}, request FROM image_jobs WHERE id = ${id}`
    // Another worker may have it by now: its fence tells, when this one wants to change something.
    if (row === undefined || row.request === null) return { verdict: 'ended' }
    const { request: sealed, ...rest } = row
    return {
      verdict,
      lease: { id, fence: answer.fence ?? 0 },
      job: jobOf(rest),
      request: () => seal.open(sealed, `${id} request`),
      enqueue: answer.enqueue.map(enqueuedOf),
    }
  }

  /** Hold a lease for longer. `cancel`: held, and the client wants the job no more. */
  async extend({ id, fence }: Lease): Promise<'held' | 'cancel' | 'lost'> {
    const { leaseMs } = this.#options
    const [answer] = await this.#ask<{ verdict: 'held' | 'cancel' | 'lost' }[]>`
      SELECT extend_image_job(${id}, ${fence}::integer, ${leaseMs}::integer) AS verdict`
    return answer?.verdict ?? 'lost'
  }

  /** Ask for a channel's turn: 0 when the job has it, else after how many milliseconds to ask again. */
  async takeTurn({ id, fence }: Lease, channel: Channel): Promise<number | 'lost'> {
    const { imageConcurrency = null, imagesPerMinute = null } = channel
    const [answer] = await this.#ask<{ wait: number }[]>`
      SELECT take_image_turn(${id}, ${fence}::integer, ${channel.id}, ${imageConcurrency}::integer,
        ${imagesPerMinute}::integer) AS wait`
    const wait = answer?.wait ?? -1
    return wait < 0 ? 'lost' : wait
  }

  /** Keep what was tried so far, for whoever has to go on. False: the lease is lost. */
  async noteAttempts({ id, fence }: Lease, attempts: readonly AttemptRecord[]): Promise<boolean> {
    const noted = await this.#ask`
      UPDATE image_jobs SET attempts = ${jsonText(attempts)}
      WHERE id = ${id} AND fence = ${fence} AND state = 'running'`
    return noted.count === 1
  }

  /** Tell whoever watches of a preview. False: the lease is lost. */
  async notePartials({ id, fence }: Lease, partials: readonly JobPartial[]): Promise<boolean> {
    const noted = await this.#ask`
      WITH noted AS (
        UPDATE image_jobs SET partials = ${jsonText(partials)}
        WHERE id = ${id} AND fence = ${fence} AND state = 'running' RETURNING id
      ) SELECT pg_notify('tollgate_image_jobs', id::text) FROM noted`
    return noted.count === 1
  }

  /**
   * Put a job back, to be run again after a while, because its run failed or only waited for a channel. False: the lease
   * is lost, or the client wants the job no more.
   */
  async requeue(
    { id, fence }: Lease,
    delayMs: number,
    attempts: readonly AttemptRecord[],
    why: 'failed' | 'waited',
  ): Promise<boolean> {
    const [answer] = await this.#ask<{ done: boolean }[]>`
      SELECT requeue_image_job(${id}, ${fence}::integer, ${delayMs}::integer, ${jsonText(attempts)},
        ${why === 'waited'}) AS done`
    return answer?.done ?? false
  }

  /** End a job, its row and its money, once. False: it was no more as the caller believed, and nothing changed. */
  async finish(
    { id, fence }: Lease,
    from: 'queued' | 'running',
    job: ImageJob,
    ending: JobEnding,
  ): Promise<boolean> {
    const { state, close, images, result, error } = ending
    const [answer] = await this.#ask<{ done: boolean }[]>`
      SELECT finish_image_job(${id}, ${fence}::integer, ${from}, ${state},
        ${requestRowJson(job.opened, { ...close, images })}::text::jsonb, ${attemptRowsJson(id, close.attempts)}::text::jsonb,
        ${jsonText(close.attempts)}, ${result === null ? null : jsonText(result)}, ${error === null ? null : jsonText(error)}) AS done`
    return answer?.done ?? false
  }

  /** Ask the worker that runs a job to stop. False: none runs it. */
  async askToCancel(id: string): Promise<boolean> {
    const asked = await this.#ask`
      WITH asked AS (
        UPDATE image_jobs SET cancel_requested = true WHERE id = ${id} AND state = 'running' RETURNING id
      ) SELECT pg_notify('tollgate_image_jobs', id::text) FROM asked`
    return asked.count === 1
  }

  /** Those of the ids that exist. */
  async read(ids: readonly string[]): Promise<ImageJob[]> {
    const { sql } = this.#options.database
    const rows = await this.#ask<JobRow[]>`
      SELECT ${jobColumns(sql)} FROM image_jobs WHERE id = ANY (${ids as string[]}::uuid[])`
    return rows.map(jobOf)
  }

  /** A tenant's jobs, or one key's, newest first, before the given id. */
  async list(
    scope: JobScope,
    before: string | undefined,
    state: JobState | undefined,
    limit: number,
  ): Promise<ImageJob[]> {
    const { sql } = this.#options.database
    // Only what is asked for is said, and the limit written out: a plan for any parameters would read all of a tenant's jobs.
    const rows = await this.#askAside<JobRow[]>`
      SELECT ${jobColumns(sql)} FROM image_jobs WHERE tenant_id = ${scope.tenantId}
        ${scope.keyId === null ? sql`` : sql`AND key_id = ${scope.keyId}`}
        ${before === undefined ? sql`` : sql`AND id < ${before}`}
        ${state === undefined ? sql`` : sql`AND state = ${state}`}
      ORDER BY id DESC LIMIT ${sql.unsafe(String(Math.trunc(limit)))}`
    return rows.map(jobOf)
  }

  /** Which place a waiting job has among those of its tenant: 1 is next. */
  async positionOf(job: Pick<ImageJob, 'id' | 'tenantId' | 'priority'>): Promise<number> {
    const { sql } = this.#options.database
    const before = (enqueued: postgres.PendingQuery<postgres.Row[]>) => sql`
      SELECT count(*) FROM image_jobs
      WHERE tenant_id = ${job.tenantId} AND state = 'queued' AND ${enqueued} AND id <> ${job.id}
        AND (priority > ${job.priority} OR priority = ${job.priority} AND id < ${job.id})`
    // Each has an index of its own, which does not know of the jobs that have ended.
    const [answer] = await this.#ask<{ before: number }[]>`
      SELECT ((${before(sql`enqueued_at IS NULL`)}) + (${before(sql`enqueued_at IS NOT NULL`)}))::integer AS before`
    return (answer?.before ?? 0) + 1
  }

  /** Jobs that the queue lost, to be given to it again. `staleMs`: what it should have run by now. */
  async sweep(staleMs: number): Promise<Enqueued[]> {
    const { queueWindow } = this.#options
    const swept = await this.#askAside<{ enqueue: string }[]>`
      SELECT sweep_image_jobs(${staleMs}::integer, ${queueWindow}::integer) AS enqueue`
    return swept.map(({ enqueue }) => enqueuedOf(enqueue))
  }

  /** Jobs whose clients are to be told of their end, and are due to. */
  async dueWebhooks(): Promise<string[]> {
    const due = await this.#ask<{ id: string }[]>`
      SELECT id FROM image_jobs WHERE webhook_state = 'pending' AND webhook_at <= now() ORDER BY webhook_at LIMIT 1000`
    return due.map(({ id }) => id)
  }

  /**
   * Who is to be told of a job's end; undefined when nobody is any more, or not yet. `webhook` throws where it was sealed
   * with another SECRET_KEY.
   */
  async webhookOf(id: string): Promise<{ job: ImageJob; webhook: () => Webhook } | undefined> {
    const { database, seal } = this.#options
    const [row] = await this.#ask<(JobRow & { webhook_url: Buffer })[]>`
      SELECT ${jobColumns(database.sql)}, webhook_url FROM image_jobs
      WHERE id = ${id} AND webhook_state = 'pending' AND webhook_at <= now()`
    return row === undefined
      ? undefined
      : { job: jobOf(row), webhook: () => JSON.parse(seal.open(row.webhook_url, `${id} webhook`)) }
  }

  /** One delivery was tried. `againMs`: it is to be tried again then. */
  async noteWebhook(id: string, state: 'pending' | 'delivered' | 'failed', againMs: number): Promise<void> {
    await this.#ask`
      UPDATE image_jobs SET webhook_state = ${state}, webhook_tries = webhook_tries + 1,
        webhook_at = now() + ${againMs}::integer * interval '1 ms'
      WHERE id = ${id} AND webhook_state = 'pending'`
  }

  /** The moment on the clock of Postgres: that of a process may be wrong, and then nothing may be deleted by it. */
  async now(): Promise<Date> {
    const [answer] = await this.#ask<{ now: Date }[]>`SELECT now()`
    if (answer === undefined) throw new Error('Postgres does not know what time it is')
    return answer.now
  }

  /** Delete ended jobs of before this moment. Answers how many. */
  async removeBefore(moment: Date): Promise<number> {
    const removed = await this.#askAside`
      DELETE FROM image_jobs WHERE created_at < ${moment} AND state NOT IN ('queued', 'running')`
    return removed.count
  }

  /** One statement. Rejects, in time, with `unavailable` when it is not answered; then the connections are made anew. */
  #ask<Rows extends readonly postgres.MaybeRow[]>(text: TemplateStringsArray, ...values: Value[]) {
    const { database, waitMs } = this.#options
    return answered(inTime(database.sql<Rows>(text, ...values), waitMs, () => database.renew()))
  }

  /** The same for what may be slow because it has much to read: others' statements are not cut off for it. */
  #askAside<Rows extends readonly postgres.MaybeRow[]>(text: TemplateStringsArray, ...values: Value[]) {
    const { database, waitMs } = this.#options
    return answered(inTime(database.sql<Rows>(text, ...values), waitMs))
  }
}

/** Postgres that is away passes. A statement that it refuses is a bug of ours. */
async function answered<T>(query: Promise<T>): Promise<T> {
  try {
    return await query
  } catch (cause) {
    if (isOwnFault(cause)) throw cause
    throw new GatewayError('unavailable', 'The database does not answer just now. Try again shortly.', {
      cause,
      retryAfterSeconds: 2,
    })
  }
}

function isOwnFault(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'PostgresError') return false
  return !('code' in error && /^(08|5[37])/.test(String(error.code)))
}

type Value = postgres.ParameterOrFragment<never>

/** What the queue is given. */
export interface Enqueued {
  id: string
  priority: number
}

function enqueuedOf(text: string): Enqueued {
  const [id = '', priority = '0'] = text.split(' ')
  return { id, priority: Number(priority) }
}

/** Whose jobs. `keyId` null: all of the tenant's. */
export interface JobScope {
  tenantId: string
  keyId: string | null
}
