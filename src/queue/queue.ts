import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../telemetry/log.ts'

/**
 * A queue of ids of jobs. The jobs themselves are in Postgres: when the queue loses an id, a sweep adds it
 * again.
 */
export interface JobQueue {
  /**
   * An id that already waits, is delayed or runs is ignored: its priority and delay do not change.
   * Rejects when the backend does not answer in time; it may then have taken some or all of the ids.
   */
  add(jobs: readonly QueuedJob[]): Promise<void>
  /** The numbers of jobs that wait, are delayed, or run now. Rejects like `add`. */
  counts(): Promise<{ waiting: number; delayed: number; active: number }>
}

export interface QueuedJob {
  id: string
  /** 0 to 100; higher runs first. Jobs of one priority run in the order in which they were added. */
  priority: number
  /** Time before the job may run. Default 0. */
  delayMs?: number
}

/** The queues, on one backend. */
export interface Queues {
  backend: 'redis' | 'postgres'
  images: JobQueue
  webhooks: JobQueue
  probes: JobQueue
  alerts: JobQueue
  answers: JobQueue
  /** Run the jobs of a queue in this process from now on. While the backend is down, it waits for it. */
  work(name: QueueName, options: WorkOptions): QueueWorker
  /**
   * Pages that show the queues. Mount them at `basePath`, after a check of the admin's token. They change
   * nothing: the state of a job is in Postgres, not in the queue.
   */
  board(basePath: string): Promise<QueuePages>
  /** Close the workers first: this cuts off jobs that still run. */
  close(): Promise<void>
}

export type QueueName = 'images' | 'webhooks' | 'probes' | 'alerts' | 'answers'

/** A handler that Express can mount. */
export type QueuePages = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

export interface WorkOptions {
  /** Jobs that run at the same time. */
  concurrency: number
  /**
   * Resolves when the queue may drop the id; `again`: milliseconds after which the queue runs it again. When
   * it rejects, the queue logs that and runs it again after five seconds, endlessly: Postgres decides when a
   * job has failed. An id never runs twice at the same time, unless the queue took this worker for dead.
   */
  run(id: string): Promise<{ again: number } | undefined>
  log: Log
}

export interface QueueWorker {
  /** Takes no new jobs. Resolves when the running jobs have ended. */
  close(): Promise<void>
}
