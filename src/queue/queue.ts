import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * The queue as the rest sees it. It carries ids, never what they stand for: Postgres has that, and whatever the queue
 * loses is given to it again by a sweep.
 */
export interface JobQueue {
  /**
   * Ids that wait, are delayed or run here are taken as if nothing were said; neither priority nor delay changes.
   * Rejects when the backend does not answer in time; some of the ids, or all, may be taken then.
   */
  add(jobs: readonly QueuedJob[]): Promise<void>
  /** Jobs that wait, are delayed, or run now. Rejects like `add`. */
  counts(): Promise<{ waiting: number; delayed: number; active: number }>
}

export interface QueuedJob {
  id: string
  /** Higher first; 0 to 100. Among equals the first added is the first run. */
  priority: number
  /** Not to be run before. Default 0. */
  delayMs?: number
}

/** Both queues, on one backend. */
export interface Queues {
  backend: 'redis' | 'postgres'
  images: JobQueue
  webhooks: JobQueue
  /** Run the jobs of a queue here, from now on; also when the backend is away, as soon as it is back. */
  work(name: QueueName, options: WorkOptions): QueueWorker
  /**
   * Pages that show both queues, to be mounted at `basePath` behind a check of who asks. They change nothing: the
   * truth of a job is in Postgres, not here.
   */
  board(basePath: string): Promise<Pages>
  /** Close the workers first: those that still run here are cut off. */
  close(): Promise<void>
}

export type QueueName = 'images' | 'webhooks'

/** What Express and others mount. */
export type Pages = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

export type QueueLog = (message: string, fields: object) => void

export interface WorkOptions {
  /** Jobs at once. */
  concurrency: number
  /**
   * Resolves when the job has ended or is no more for this queue; `again`: to be run again after so many milliseconds.
   * When it rejects, that is logged and the job is run again after five seconds, for ever: who knows when a job has
   * failed for good is Postgres. The same id is never run twice at once, unless this worker was taken for dead.
   */
  run(id: string): Promise<{ again: number } | undefined>
  log: QueueLog
}

export interface QueueWorker {
  /** Takes no new jobs, and resolves when those that run have ended. */
  close(): Promise<void>
}
