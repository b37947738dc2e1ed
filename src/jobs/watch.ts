import { causeOf } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import type { Log } from '../telemetry/log.ts'
import type { Job } from './job.ts'
import type { Jobs } from './jobs.ts'

/**
 * Watches the jobs that clients are waiting for. Notifications from Postgres make this fast; reading the jobs
 * regularly makes it reliable, because notifications get lost in an outage.
 */
export class JobWatch {
  readonly #jobs: Pick<Jobs, 'read'>
  readonly #database: Pick<Database, 'listen'>
  readonly #sweepMs: number
  readonly #log: Log
  readonly #watchers = new Map<string, Set<Watcher>>()
  #asked = new Set<string>()
  #reading = false
  #timer: NodeJS.Timeout | undefined
  #unlisten: (() => Promise<void>) | undefined
  #ended = false

  constructor(options: {
    jobs: Pick<Jobs, 'read'>
    database: Pick<Database, 'listen'>
    sweepMs: number
    log: Log
  }) {
    this.#jobs = options.jobs
    this.#database = options.database
    this.#sweepMs = options.sweepMs
    this.#log = options.log
  }

  /**
   * Calls `onChange` with the job's current state and after each change, but never before this method
   * returns. The same state can be passed twice. Returns a function that ends the watch.
   */
  watch(id: string, onChange: (job: Job) => void): () => void {
    const watcher: Watcher = { onChange }
    const watchers = this.#watchers.get(id) ?? new Set()
    watchers.add(watcher)
    this.#watchers.set(id, watchers)
    this.#listen()
    this.#timer ??= setInterval(() => this.#ask(this.#watchers.keys()), this.#sweepMs)
    this.#ask([id])
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#watchers.get(id) === watchers) this.#watchers.delete(id)
      if (this.#watchers.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  async end(): Promise<void> {
    this.#ended = true
    clearInterval(this.#timer)
    await this.#unlisten?.()
  }

  /** Subscribes on first use. */
  #listen(): void {
    if (this.#ended) return
    this.#unlisten ??= this.#database.listen('tollgate_jobs', {
      onNotify: (id) => {
        if (this.#watchers.has(id)) this.#ask([id])
      },
      onListening: () => this.#ask(this.#watchers.keys()),
      onRefused: (error) =>
        this.#log.warn(
          { cause: String(error) },
          'cannot listen for job changes, so only the sweep detects them',
        ),
    })
  }

  /** A job that changes during a read is read again, because the running read may return an older state. */
  #ask(ids: Iterable<string>): void {
    for (const id of ids) this.#asked.add(id)
    if (!this.#reading) void this.#read()
  }

  async #read(): Promise<void> {
    this.#reading = true
    while (this.#asked.size > 0 && !this.#ended) {
      const ids = [...this.#asked]
      this.#asked = new Set()
      try {
        for (const job of await this.#jobs.read(ids)) {
          for (const { onChange } of this.#watchers.get(job.id) ?? []) onChange(job)
        }
      } catch (error) {
        // The next sweep will read them again.
        this.#log.warn({ cause: String(causeOf(error)) }, 'cannot read jobs')
        break
      }
    }
    this.#reading = false
  }
}

interface Watcher {
  onChange: (job: Job) => void
}
