import type { Sql } from 'postgres'
import { z } from 'zod'
import { isRecord, type Json } from '../../canonical/json.ts'
import type { Database } from '../../db/database.ts'
import type { CloseRecord, OnRow } from '../../journal/record.ts'
import { attemptRowsJson, jsonText, requestRowJson } from '../../journal/row-json.ts'
import type { NewKeptRow } from '../../state/kept/kept-queries.ts'
import type { Job, JobError, JobState, Lease } from '../job.ts'
import { type Acceptance, acceptedParts, enqueuedOf, type JobCipher, type NewJob } from '../jobs.ts'

export interface BackgroundOptions {
  database: Pick<Database, 'jobs' | 'reads'>
  cipher: JobCipher
  /** The longest time that a client waits for Postgres. */
  waitMs: number
  /** The maximum number of a tenant's answers in the queue at a time. */
  queueWindow: number
  /** The maximum number of a tenant's answers that wait outside the queue. */
  waitingMax: number
  /** Called with the rows that are written when jobs end. */
  onRow?: OnRow | undefined
}

/** The parts of its request that a job keeps, encrypted. */
export interface KeptRequest {
  /** The body of the request that generates the answer. */
  body: string
  /** The client headers that are passed on to that request. */
  headers: Record<string, string>
  showsEncrypted: boolean
}

const keptRequest: z.ZodType<KeptRequest> = z.object({
  body: z.string(),
  headers: z.record(z.string(), z.string()),
  showsEncrypted: z.boolean(),
})

const texts = z.array(z.string())

/** The end of an answer: its last events, the object that its client gets, and its row with the cost. */
export interface AnswerEnding {
  state: Exclude<JobState, 'queued' | 'running'>
  close: CloseRecord
  answer: Json
  /** The sequence number of the first of the last events, and the texts of those events. */
  first: number
  events: readonly string[]
  error: JobError | null
  /** The turn for later requests; undefined when it is not kept. */
  kept: { row: NewKeptRow; days: number } | undefined
}

/**
 * Answers that are generated in the background. Like image jobs, their jobs are rows of `jobs`, which `Jobs`
 * claims, extends and requeues. In addition, an answer has events and the object that its client gets. Each
 * change is one statement.
 */
export class BackgroundAnswers {
  readonly #options: BackgroundOptions

  constructor(options: BackgroundOptions) {
    this.#options = options
  }

  /** Like `Jobs.accept`, with the current state of the answer and its first events. */
  async accept(job: NewJob, request: KeptRequest, now: { answer: Json; events: readonly Json[] }) {
    const { cipher, queueWindow, waitingMax } = this.#options
    const { id } = job.opened
    const parts = acceptedParts({ ...job, request: JSON.stringify(request) }, cipher)
    const events = now.events.map((event) => JSON.stringify(event))
    const [answer] = await this.#call(
      (sql) => sql<{ verdict: Acceptance['verdict']; enqueue: string[] }[]>`
        SELECT verdict, enqueue FROM accept_answer_job(${parts.row}::text::jsonb, ${parts.request}, ${parts.webhook},
          ${parts.amount}::bigint, ${queueWindow}::integer, ${waitingMax}::integer,
          ${this.#sealedAnswer(id, now.answer)}, ${this.#sealedEvents(id, 0, events)}, ${events.length}::integer)`,
    )
    if (answer === undefined) throw new Error('accept_answer_job returned no row')
    return { verdict: answer.verdict, enqueue: answer.enqueue.map(enqueuedOf) }
  }

  /** Parses the request of a claimed job. */
  requestOf(text: string): KeptRequest {
    return keptRequest.parse(JSON.parse(text))
  }

  /**
   * Stores events after those that the job already has. Calling it again with the same events has no effect.
   * Returns false when the lease is lost.
   */
  async keepEvents({ id, fence }: Lease, first: number, events: readonly string[]): Promise<boolean> {
    const content = this.#sealedEvents(id, first, events)
    const [answer] = await this.#call(
      (sql) => sql<{ kept: boolean }[]>`
        SELECT keep_answer_events(${id}, ${fence}::integer, ${first}::integer, ${events.length}::integer, ${content}) AS kept`,
    )
    return answer?.kept ?? false
  }

  /**
   * Ends a job once: stores its events, answer, kept turn, row and charge. Returns false when the job was not
   * in the expected state, in which case nothing changed.
   */
  async finish(
    { id, fence }: Lease,
    from: 'queued' | 'running',
    job: Job,
    ending: AnswerEnding,
  ): Promise<boolean> {
    const { state, close, answer, first, events, error, kept } = ending
    const content = this.#sealedEvents(id, first, events)
    const keptRow = kept === undefined ? null : keptJson(kept.row)
    const [finished] = await this.#call(
      (sql) => sql<{ done: boolean }[]>`
        SELECT finish_answer_job(${id}, ${fence}::integer, ${from}, ${state},
          ${requestRowJson(job.opened, close)}::text::jsonb, ${attemptRowsJson(id, close.attempts)}::text::jsonb,
          ${jsonText(close.attempts)}, ${error === null ? null : jsonText(error)}, ${this.#sealedAnswer(id, answer)},
          ${first}::integer, ${events.length}::integer, ${content}, ${keptRow}::text::jsonb,
          ${kept?.row.content ?? null}, ${kept?.days ?? null}::integer) AS done`,
    )
    if (finished?.done === true) this.#options.onRow?.(job.opened, close, 'job')
    return finished?.done ?? false
  }

  /**
   * Returns the object that the client of a job gets, as of its acceptance or its end; undefined when the job
   * no longer exists.
   */
  async answerOf(id: string): Promise<Json | undefined> {
    const [row] = await this.#call(
      (sql) => sql<{ answer: Buffer }[]>`SELECT answer FROM background_answers WHERE job_id = ${id}`,
    )
    if (row === undefined) return undefined
    const answer: unknown = JSON.parse(this.#options.cipher.decrypt(row.answer, `${id} answer`))
    return isRecord(answer) ? answer : undefined
  }

  /** Returns the client's request of a job that has not ended. */
  async keptRequestOf(id: string): Promise<KeptRequest | undefined> {
    const [row] = await this.#call(
      (sql) => sql<{ request: Buffer | null }[]>`SELECT request FROM jobs WHERE id = ${id}`,
    )
    if (row === undefined || row.request === null) return undefined
    return this.requestOf(this.#options.cipher.decrypt(row.request, `${id} request`))
  }

  /**
   * Returns events from this sequence number on, in order: a limited number, but at least one if there is
   * one.
   */
  async eventsFrom(id: string, from: number): Promise<string[]> {
    const rows = await this.#call(
      (sql) => sql<{ first: number; content: Buffer }[]>`
        SELECT first, content FROM answer_events
        WHERE job_id = ${id} AND first >= coalesce(
          (SELECT max(e.first) FROM answer_events e WHERE e.job_id = ${id} AND e.first <= ${from}), 0)
        ORDER BY first LIMIT ${piecesAtOnce}`,
    )
    return rows.flatMap(({ first, content }) => {
      const events = texts.parse(JSON.parse(this.#options.cipher.decrypt(content, `${id} events ${first}`)))
      return first < from ? events.slice(from - first) : events
    })
  }

  /** Deletes an ended job with its events. */
  async remove(id: string): Promise<void> {
    await this.#call(
      (sql) => sql`
        WITH job AS (DELETE FROM jobs WHERE id = ${id} AND state NOT IN ('queued', 'running') RETURNING id)
        DELETE FROM background_answers WHERE job_id IN (SELECT id FROM job)`,
    )
  }

  #sealedAnswer(id: string, answer: Json): Buffer {
    return this.#options.cipher.encrypt(JSON.stringify(answer), `${id} answer`)
  }

  #sealedEvents(id: string, first: number, events: readonly string[]): Buffer {
    return this.#options.cipher.encrypt(JSON.stringify(events), `${id} events ${first}`)
  }

  #call<T>(statement: (sql: Sql) => PromiseLike<T>): Promise<T> {
    return this.#options.database.jobs.ask(({ sql }) => statement(sql))
  }
}

/** The most rows of events that one query reads. */
const piecesAtOnce = 64

/** A row of kept_answers for `jsonb_populate_record`, without its content. */
function keptJson({
  tenantId,
  id,
  keyId,
  protocol,
  previousId,
  model,
  endUserHash,
  bytes,
}: NewKeptRow): string {
  return jsonText({
    tenant_id: tenantId,
    id,
    key_id: keyId,
    protocol,
    previous_id: previousId,
    model,
    end_user_hash: endUserHash === null ? null : `\\x${endUserHash.toString('hex')}`,
    bytes,
  })
}
