import type { Sql } from 'postgres'
import type { Database } from '../../db/database.ts'
import { declared } from '../../telemetry/metrics/declarations.ts'
import type { Metrics } from '../../telemetry/metrics/store.ts'

/** Values younger than this are shown again. */
const freshMs = 10_000
/** Older values are not shown. */
const staleMs = 60_000
/** How long one request for metrics waits for Postgres, since a supervisor waits for a second. */
const waitMs = 700

interface Counted {
  kind: 'image' | 'answer'
  state: 'queued' | 'running'
  jobs: number
  oldest_seconds: number
}

interface Held {
  webhooks: number
  reservations: number
  held_nano: string
}

/**
 * The values that Postgres holds for all processes: waiting jobs, webhooks that are due, and held money. It
 * is read at most once every `freshMs`, and the number of rows that it counts is limited.
 */
export class SharedState {
  readonly #database: Pick<Database, 'log'>
  #reading: Promise<void> | undefined
  #read: { jobs: Counted[]; held: Held | undefined; at: number } | undefined

  constructor(database: Pick<Database, 'log'>) {
    this.#database = database
  }

  /**
   * Sets the gauges, reading Postgres if the last values are too old. While Postgres is down they are left
   * out.
   */
  async show(metrics: Metrics): Promise<void> {
    if (this.#ageMs > freshMs) await this.#readAgain()
    if (this.#read === undefined || this.#ageMs > staleMs) return
    const { jobs, held } = this.#read
    for (const kind of ['image', 'answer'] as const) {
      for (const state of ['queued', 'running'] as const) {
        const counted = jobs.find((row) => row.kind === kind && row.state === state)
        metrics.cells(declared.jobs).at(kind, state).value = counted?.jobs ?? 0
        metrics.cells(declared.oldestJob).at(kind, state).value = counted?.oldest_seconds ?? 0
      }
    }
    metrics.cells(declared.webhooksDue).at().value = held?.webhooks ?? 0
    metrics.cells(declared.reservations).at().value = held?.reservations ?? 0
    metrics.cells(declared.reservedUsd).at().value = Number(held?.held_nano ?? 0)
    metrics.cells(declared.sharedAge).at().value = this.#ageMs / 1_000
  }

  get #ageMs(): number {
    return this.#read === undefined ? Number.POSITIVE_INFINITY : performance.now() - this.#read.at
  }

  /** Concurrent callers share a read. */
  async #readAgain(): Promise<void> {
    this.#reading ??= this.#ask()
      .catch(() => {})
      .finally(() => {
        this.#reading = undefined
      })
    await this.#reading
  }

  async #ask(): Promise<void> {
    const terms = { withinMs: waitMs }
    const [jobs, [held]] = await Promise.all([
      this.#database.log.ask(({ sql }) => countJobs(sql), terms),
      this.#database.log.ask(({ sql }) => readHeld(sql), terms),
    ])
    this.#read = { jobs, held, at: performance.now() }
  }
}

/** Each part uses its own index, which contains only jobs that have not ended. */
function countJobs(sql: Sql) {
  return sql<Counted[]>`
    SELECT kind, state, count(*)::integer AS jobs,
      greatest(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8 AS oldest_seconds
    FROM (
      (SELECT CASE WHEN is_answer_job(id) THEN 'answer' ELSE 'image' END AS kind, state, created_at
        FROM jobs WHERE state = 'queued' AND enqueued_at IS NULL LIMIT 5000)
      UNION ALL
      (SELECT CASE WHEN is_answer_job(id) THEN 'answer' ELSE 'image' END, state, created_at
        FROM jobs WHERE state = 'queued' AND enqueued_at IS NOT NULL LIMIT 5000)
      UNION ALL
      (SELECT CASE WHEN is_answer_job(id) THEN 'answer' ELSE 'image' END, state, created_at
        FROM jobs WHERE state = 'running' LIMIT 10000)
    ) AS live GROUP BY 1, 2`
}

function readHeld(sql: Sql) {
  return sql<Held[]>`
    SELECT (SELECT count(*) FROM (SELECT 1 FROM jobs
        WHERE webhook_state = 'pending' AND webhook_at < now() LIMIT 10000) AS due)::integer AS webhooks,
      count(*)::integer AS reservations, coalesce(sum(amount_nano), 0)::text AS held_nano
    FROM (SELECT amount_nano FROM reservations LIMIT 100000) AS held`
}
