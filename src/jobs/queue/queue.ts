import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../../telemetry/log.ts'

/**
 * A queue of job ids. The jobs themselves are in Postgres: if the queue loses an id, a sweep adds it again.
 */
export interface JobQueue {
  /**
   * Ignores an id that is already waiting, delayed or running: its priority and delay do not change. Rejects
   * if the backend does not answer in time, in which case it may still have stored some or all of the ids.
   */
  add(jobs: readonly QueuedJob[]): Promise<void>
  /** The numbers of jobs that are waiting, delayed and running. Rejects like `add`. */
  counts(): Promise<{ waiting: number; delayed: number; active: number }>
}

export interface QueuedJob {
  id: string
  /** 0 to 100; higher runs first. Jobs of the same priority run in the order in which they were added. */
  priority: number
  /** The time before the job can run. Default: 0. */
  delayMs?: number
}

/** The queues on one backend. */
export interface Queues {
  backend: 'redis' | 'postgres'
  images: JobQueue
  webhooks: JobQueue
  probes: JobQueue
  alerts: JobQueue
  answers: JobQueue
  /**
   * Starts to run the jobs of a queue in this process. While the backend is down, the worker waits for it.
   */
  work(name: QueueName, options: WorkOptions): QueueWorker
  /**
   * Returns pages that show the queues. Mount them at `basePath`, after a check of the admin's token. They
   * are read-only because the state of a job is in Postgres, not in the queue.
   */
  board(basePath: string): Promise<QueuePages>
  /** Call this after the workers are closed, because it cuts off jobs that are still running. */
  close(): Promise<void>
}

export type QueueName = 'images' | 'webhooks' | 'probes' | 'alerts' | 'answers'

/** A handler that can be mounted in Express. */
export type QueuePages = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

export interface WorkOptions {
  /** The number of jobs that run at the same time. */
  concurrency: number
  /**
   * Resolves when the queue can drop the id, or with `again`: the milliseconds after which the queue runs the
   * job again. If it rejects, the queue logs the error and runs the job again after five seconds, without a
   * limit, because Postgres decides when a job has failed. A job never runs twice at the same time, unless
   * the queue assumed that this worker was dead.
   */
  run(id: string): Promise<{ again: number } | undefined>
  log: Log
}

export interface QueueWorker {
  /** Stops taking new jobs. Resolves when the running jobs have ended. */
  close(): Promise<void>
}
