import type { Sql } from 'postgres'
import type { z } from 'zod'
import type { Channel } from '../catalog/snapshot.ts'
import type { Database } from '../db/database.ts'
import type { Terms } from '../db/pool.ts'
import type { AttemptRecord, CloseRecord, OnRow } from '../journal/record.ts'
import { attemptRowsJson, jsonText, requestRowJson } from '../journal/row-json.ts'
import type { RowScope } from '../usage/log/row-tests.ts'
import type {
  Job,
  JobError,
  JobKind,
  JobOpened,
  JobPartial,
  JobQuote,
  JobResult,
  JobState,
  Lease,
} from './job.ts'
import { keptWebhook, quoteText, readKept } from './kept-json.ts'
import {
  countBefore,
  countDelivery,
  deleteEndedJobs,
  deleteLeftAnswers,
  type JobPage,
  listDueWebhooks,
  listJobs,
  readDueWebhook,
  readJobs,
  readJobToRun,
  requestCancel,
  setAttempts,
  setPartials,
} from './queries.ts'
import { jobOf } from './rows.ts'

export type { Lease }

/**
 * Encrypts the parts of a job that must not outlive it. `owner` binds the ciphertext to its job and its
 * purpose.
 */
export interface JobCipher {
  encrypt(text: string, owner: string): Buffer
  decrypt(encrypted: Buffer, owner: string): string
}

export interface JobsOptions {
  database: Pick<Database, 'jobs' | 'reads' | 'upkeep'>
  cipher: JobCipher
  /** The longest time for which a client waits for Postgres. */
  waitMs: number
  /** The most jobs of a tenant that are in the queue at once. */
  queueWindow: number
  /** The most jobs of a tenant that can wait outside the queue. */
  waitingMax: number
  leaseMs: number
  /** Called with each usage-log row that is written when a job ends. */
  onRow?: OnRow | undefined
}

export interface NewJob {
  kind: JobKind
  opened: JobOpened
  /** Redacted; null if the usage log does not keep the body. */
  body: string | null
  tenantId: string
  keyId: string
  groupId: string
  priority: number
  model: string
  quote: JobQuote
  /** The client's body, unredacted. The row stores it encrypted until the job ends. */
  request: string
  webhook: Webhook | undefined
  /** The amount to hold; undefined if the tenant's money is not limited. */
  amountNano: bigint | undefined
}

/** The webhook to call when a job ends. */
export type Webhook = z.output<typeof keptWebhook>

export interface Acceptance {
  verdict: 'accepted' | 'insufficient' | 'full'
  enqueue: Enqueued[]
}

export type JobClaim =
  /**
   * `request` returns the client's body, and throws if another SECRET_KEY encrypted it. `enqueue` lists jobs
   * to add to the queue now.
   */
  | { verdict: 'claimed'; lease: Lease; job: Job; request: () => string; enqueue: Enqueued[] }
  /** `held`: another worker has claimed the job. `early`: the job must not run yet. */
  | { verdict: 'held' | 'early'; untilMs: number }
  | { verdict: 'ended' | 'gone' }

/** The end of a job: its result or error for the client, and its usage-log row with the cost. */
export interface JobEnding {
  state: Exclude<JobState, 'queued' | 'running'>
  close: CloseRecord
  /** The number of images delivered; for a job without a result, the number of images with a preview. */
  images: number
  result: JobResult | null
  error: JobError | null
}

/**
 * The jobs in Postgres. Each change is a single statement, conditional on the fence or the state that the
 * caller expects. Methods for which a client or an upstream call waits reject with `unavailable` while
 * Postgres is down.
 */
export class Jobs {
  readonly #options: JobsOptions

  constructor(options: JobsOptions) {
    this.#options = options
  }

  /**
   * Holds the money and stores the job. `insufficient`: the account's balance is too low. `full`: the tenant
   * already has the maximum number of waiting jobs. A second call with the same job changes nothing. Rejects
   * if Postgres does not answer.
   */
  async accept(job: NewJob): Promise<Acceptance> {
    const { cipher, queueWindow, waitingMax } = this.#options
    const { row, request, webhook, amount } = acceptedParts(job, cipher)
    const [answer] = await this.#call(
      (sql) => sql<{ verdict: Acceptance['verdict']; enqueue: string[] }[]>`
        SELECT verdict, enqueue FROM accept_job(${row}::text::jsonb, ${request}, ${webhook},
          ${amount}::bigint, ${queueWindow}::integer, ${waitingMax}::integer)`,
    )
    if (answer === undefined) throw new Error('accept_job returned no row')
    return { verdict: answer.verdict, enqueue: answer.enqueue.map(enqueuedOf) }
  }

  /** Claims a job in order to run it. */
  async claim(id: string): Promise<JobClaim> {
    const { database, cipher, queueWindow, leaseMs } = this.#options
    const [answer] = await this.#call(
      (sql) => sql<ClaimRow[]>`
        SELECT verdict, fence, until, enqueue FROM claim_job(${id}, ${leaseMs}::integer, ${queueWindow}::integer)`,
    )
    if (answer === undefined) throw new Error('claim_job returned no row')
    const { verdict } = answer
    if (verdict === 'ended' || verdict === 'gone') return { verdict }
    if (verdict !== 'claimed') return { verdict, untilMs: answer.until?.getTime() ?? Date.now() }
    const row = await database.jobs.ask(({ db }) => readJobToRun(db, id))
    // Another worker may have claimed the job since. Then this lease has an old fence, and changes made with
    // it have no effect.
    if (row === undefined || row.request === null) return { verdict: 'ended' }
    const { request: encrypted, ...rest } = row
    return {
      verdict,
      lease: { id, fence: answer.fence ?? 0 },
      job: jobOf(rest),
      request: () => cipher.decrypt(encrypted, `${id} request`),
      enqueue: answer.enqueue.map(enqueuedOf),
    }
  }

  /** Extends a lease. `cancel`: the lease was extended, but the client has cancelled the job. */
  async extend({ id, fence }: Lease): Promise<'held' | 'cancel' | 'lost'> {
    const { leaseMs } = this.#options
    const [answer] = await this.#call(
      (sql) => sql<{ verdict: 'held' | 'cancel' | 'lost' }[]>`
        SELECT extend_job(${id}, ${fence}::integer, ${leaseMs}::integer) AS verdict`,
    )
    return answer?.verdict ?? 'lost'
  }

  /**
   * Requests a turn on a channel. Returns 0 if the job has it, otherwise the milliseconds to wait before
   * asking again.
   */
  async takeTurn({ id, fence }: Lease, channel: Channel): Promise<number | 'lost'> {
    const { imageConcurrency = null, imagesPerMinute = null } = channel
    const [answer] = await this.#call(
      (sql) => sql<{ wait: number }[]>`
        SELECT take_image_turn(${id}, ${fence}::integer, ${channel.id}, ${imageConcurrency}::integer,
          ${imagesPerMinute}::integer) AS wait`,
    )
    const wait = answer?.wait ?? -1
    return wait < 0 ? 'lost' : wait
  }

  /** Stores the attempts made so far for the next worker. Returns false if the lease is lost. */
  async noteAttempts(lease: Lease, attempts: readonly AttemptRecord[]): Promise<boolean> {
    return await this.#options.database.jobs.ask(({ db }) => setAttempts(db, lease, jsonText(attempts)))
  }

  /** Stores the previews and notifies the job's watchers. Returns false if the lease is lost. */
  async notePartials(lease: Lease, partials: readonly JobPartial[]): Promise<boolean> {
    return await this.#options.database.jobs.ask(({ db }) => setPartials(db, lease, jsonText(partials)))
  }

  /**
   * Puts a job back, to run again after `delayMs`, because its run failed or only waited for a channel.
   * Returns false if the lease is lost or the client has cancelled the job.
   */
  async requeue(
    { id, fence }: Lease,
    delayMs: number,
    attempts: readonly AttemptRecord[],
    why: 'failed' | 'waited',
  ): Promise<boolean> {
    const [answer] = await this.#call(
      (sql) => sql<{ done: boolean }[]>`
        SELECT requeue_job(${id}, ${fence}::integer, ${delayMs}::integer, ${jsonText(attempts)},
          ${why === 'waited'}) AS done`,
    )
    return answer?.done ?? false
  }

  /**
   * Ends a job once: writes its usage-log row and charges its cost. Returns false, with nothing changed, if
   * the job was not in the expected state.
   */
  async finish(
    { id, fence }: Lease,
    from: 'queued' | 'running',
    job: Job,
    ending: JobEnding,
  ): Promise<boolean> {
    const { state, close, images, result, error } = ending
    const whole = { ...close, images }
    const row = requestRowJson(job.opened, whole)
    const [answer] = await this.#call(
      (sql) => sql<{ done: boolean }[]>`
        SELECT finish_job(${id}, ${fence}::integer, ${from}, ${state}, ${row}::text::jsonb,
          ${attemptRowsJson(id, close.attempts)}::text::jsonb, ${jsonText(close.attempts)},
          ${result === null ? null : jsonText(result)}, ${error === null ? null : jsonText(error)}) AS done`,
    )
    if (answer?.done === true) this.#options.onRow?.(job.opened, whole, 'job')
    return answer?.done ?? false
  }

  /** Asks the worker of a job to stop. Returns false if no worker runs it. */
  async askToCancel(id: string): Promise<boolean> {
    return await this.#options.database.jobs.ask(({ db }) => requestCancel(db, id))
  }

  /** Returns those of the given jobs that exist. */
  async read(ids: readonly string[]): Promise<Job[]> {
    const rows = await this.#options.database.jobs.ask(({ db }) => readJobs(db, ids))
    return rows.map(jobOf)
  }

  /** Returns jobs of one kind of a tenant or one of its keys, newest first, older than `before`. */
  async list(scope: RowScope, page: JobPage, terms: Pick<Terms, 'owner' | 'signal'> = {}): Promise<Job[]> {
    const { database, waitMs: withinMs } = this.#options
    const rows = await database.reads.ask(({ db }) => listJobs(db, scope, page), {
      withinMs,
      ...terms,
    })
    return rows.map(jobOf)
  }

  /** The position of a waiting job among the waiting jobs of its tenant and kind; 1 is next. */
  async positionOf(job: Pick<Job, 'id' | 'kind' | 'tenantId' | 'priority'>): Promise<number> {
    const { database, waitMs: withinMs } = this.#options
    return 1 + (await database.reads.ask(({ db }) => countBefore(db, job), { withinMs }))
  }

  /** Returns true for only one process in each period of `apartMs`. That process should run the sweep. */
  async claimSweep(
    sweep:
      | 'jobs'
      | 'old_jobs'
      | 'files'
      | 'stored_files'
      | 'stored_images'
      | 'probes'
      | 'alerts'
      | 'old_alerts'
      | 'tenant_retention',
    apartMs: number,
  ): Promise<boolean> {
    const [answer] = await this.#call(
      (sql) => sql<{ claimed: boolean }[]>`SELECT claim_sweep(${sweep}, ${apartMs}::integer) AS claimed`,
    )
    return answer?.claimed ?? false
  }

  /**
   * Returns jobs that the queue has lost and that must be added again. A job counts as lost if the queue has
   * not run it within `staleMs`. Locks one tenant at a time.
   */
  async sweep(staleMs: number): Promise<Enqueued[]> {
    const { queueWindow } = this.#options
    const swept = await this.#call(
      (sql) => sql<{ enqueue: string }[]>`SELECT lost_jobs(${staleMs}::integer) AS enqueue`,
    )
    const unfed = await this.#call(
      (sql) => sql<{ tenant: string }[]>`SELECT unfed_tenants(${queueWindow}::integer) AS tenant`,
    )
    for (const { tenant } of unfed) {
      const fed = await this.#call(
        (sql) => sql<{ enqueue: string }[]>`
          SELECT unnest(feed_jobs(${tenant}, ${queueWindow}::integer)) AS enqueue`,
      )
      swept.push(...fed)
    }
    return swept.map(({ enqueue }) => enqueuedOf(enqueue))
  }

  /** Returns the ids of jobs whose webhook is due. */
  async dueWebhooks(): Promise<string[]> {
    return await this.#options.database.jobs.ask(({ db }) => listDueWebhooks(db))
  }

  /**
   * Returns the webhook of an ended job, or undefined if it is not due (any more). `webhook` throws if
   * another SECRET_KEY encrypted it.
   */
  async webhookOf(id: string): Promise<{ job: Job; webhook: () => Webhook } | undefined> {
    const { database, cipher } = this.#options
    const found = await database.jobs.ask(({ db }) => readDueWebhook(db, id))
    if (found === undefined || found.webhookUrl === null) return undefined
    const { webhookUrl, ...row } = found
    return {
      job: jobOf(row),
      webhook: () =>
        readKept(keptWebhook, cipher.decrypt(webhookUrl, `${id} webhook`), `webhook of job ${id}`),
    }
  }

  /** Records one delivery. `againMs` is the time until the next one. */
  async noteWebhook(id: string, state: 'pending' | 'delivered' | 'failed', againMs: number): Promise<void> {
    await this.#options.database.jobs.ask(({ db }) => countDelivery(db, id, state, againMs))
  }

  /** The time according to Postgres. A process's clock may be wrong, and that must not delete anything. */
  async now(): Promise<Date> {
    const [answer] = await this.#call((sql) => sql<{ now: Date }[]>`SELECT now()`)
    if (answer === undefined) throw new Error('SELECT now() returned no row')
    return answer.now
  }

  /**
   * Deletes ended jobs of a kind that are older than the given moment. Resolves to the number of deleted
   * jobs. A slow deletion continues after the call has given up.
   */
  async removeBefore(kind: JobKind, moment: Date): Promise<number> {
    const { database, waitMs: withinMs } = this.#options
    const deleted = await database.upkeep.ask(({ db }) => deleteEndedJobs(db, kind, moment), { withinMs })
    if (kind === 'answer') await database.upkeep.ask(({ db }) => deleteLeftAnswers(db), { withinMs })
    return deleted
  }

  /** Calls one of our SQL functions. */
  #call<T>(statement: (sql: Sql) => PromiseLike<T>): Promise<T> {
    return this.#options.database.jobs.ask(({ sql }) => statement(sql))
  }
}

/** The arguments of accept_job, with the confidential parts encrypted. */
export function acceptedParts(job: NewJob, cipher: JobCipher) {
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
  const request = cipher.encrypt(job.request, `${id} request`)
  const webhook =
    job.webhook === undefined ? null : cipher.encrypt(JSON.stringify(job.webhook), `${id} webhook`)
  return { row, request, webhook, amount: job.amountNano?.toString() ?? null }
}

interface ClaimRow {
  verdict: JobClaim['verdict']
  fence: number | null
  until: Date | null
  enqueue: string[]
}

/** An entry of the queue for the job's kind. */
export interface Enqueued {
  id: string
  kind: JobKind
  priority: number
}

/** Splits `id priority kind` without further checks, because only our own SQL functions write it. */
export function enqueuedOf(text: string): Enqueued {
  const [id = '', priority = '0', kind] = text.split(' ')
  return { id, priority: Number(priority), kind: kind === 'answer' ? kind : 'image' }
}
