import type { Worker } from 'node:worker_threads'
import { gatewayError } from '../canonical/error.ts'
import { Bulkhead, type BulkheadEntry } from '../runtime/bulkhead.ts'
import { startThread } from '../runtime/start-thread.ts'
import type { Log } from '../telemetry/log.ts'
import type { BodyThreadData, LearnedKeys, ThreadReply } from './body-thread.ts'
import type { JobName, ThreadJob, ThreadJobs } from './thread-jobs.ts'
import { errorFrom } from './wire-error.ts'

export interface BodyThreadsOptions {
  /** The maximum number of threads. They are started when first needed. */
  threads: number
  /** The maximum number of bodies that wait for a thread. */
  waitingMax: number
  /** The memory that one thread can use for objects and texts. It must be more than any body needs. */
  heapBytesMax: number
  data: BodyThreadData
  log: Log
  /** The script of a thread, for tests. */
  script?: URL
}

/** A job that has been submitted. */
export interface RunningJob<Output> {
  readonly done: Promise<Output>
  /**
   * Makes `done` reject with the reason, because the result is no longer wanted. A thread that has started
   * the job still finishes it.
   */
  abort(reason: Error): void
}

/**
 * The threads that process large bodies, so that no body blocks the event loop. Each thread runs one job at a
 * time. The jobs of different keys take turns, so many large bodies of one key delay those of another key by
 * at most one job.
 */
export class BodyThreads {
  readonly #options: BodyThreadsOptions
  readonly #turns: Bulkhead<Turn>
  readonly #idle: BodyThread[] = []
  readonly #all = new Set<BodyThread>()
  #data: BodyThreadData
  #done = 0

  constructor(options: BodyThreadsOptions) {
    this.#options = options
    this.#data = options.data
    const { threads, waitingMax } = options
    const keyMax = Math.ceil(waitingMax / 2)
    this.#turns = new Bulkhead({
      running: threads,
      waiting: waitingMax,
      perOwner: { waiting: keyMax },
      refuse: ({ owner }) =>
        owner
          ? gatewayError('key_body_queue_full', { waitingMax: keyMax }, { retryAfterSeconds: 1 })
          : gatewayError('body_queue_full', { waitingMax }, { retryAfterSeconds: 1 }),
    })
  }

  /** Returns the state for the operator. `done` is the number of jobs that threads have completed. */
  state(): { threads: number; waiting: number; done: number } {
    return { threads: this.#all.size, waiting: this.#turns.waiting, done: this.#done }
  }

  /** Sets the keys for envelopes. A thread finishes its current job with the previous keys. */
  learn(keys: LearnedKeys): void {
    this.#data = { ...this.#data, ...keys }
    for (const thread of this.#all) thread.learn(keys)
  }

  /**
   * Throws if another body of this key would wait too long: `rate_limited` because of the key's own bodies,
   * `unavailable` because of all bodies.
   */
  requireRoom(keyId: string): void {
    this.#turns.requireRoom(keyId)
  }

  /**
   * Runs a job of a key in a thread. `done` rejects with the error of the job, or with `internal` if the
   * thread dies.
   */
  run<Name extends JobName>(keyId: string, job: ThreadJob<Name>): RunningJob<ThreadJobs[Name]['output']> {
    const { promise, resolve, reject } = Promise.withResolvers<ThreadJobs[Name]['output']>()
    const turn: Turn = {
      owner: keyId,
      begin: () => {
        const thread = this.#idle.pop() ?? this.#startThread()
        const asked = thread.ask<Name>(job).then(resolve, reject)
        void asked.finally(() => {
          this.#done++
          if (this.#all.has(thread)) this.#idle.push(thread)
          this.#turns.end(turn)
        })
      },
      fail: reject,
    }
    this.#turns.add(turn)
    return {
      done: promise,
      abort: (reason) => {
        this.#turns.withdraw(turn)
        reject(reason)
      },
    }
  }

  /** Ends the threads. Waiting jobs fail. */
  async close(): Promise<void> {
    for (const turn of this.#turns.withdrawAll()) turn.fail(gatewayError('body_thread_died'))
    await Promise.all([...this.#all].map((thread) => thread.end()))
  }

  #startThread(): BodyThread {
    const { script = new URL('./body-thread.ts', import.meta.url), heapBytesMax, log } = this.#options
    const thread = new BodyThread(script, this.#data, heapBytesMax, (cause) => {
      this.#all.delete(thread)
      const at = this.#idle.indexOf(thread)
      if (at !== -1) this.#idle.splice(at, 1)
      if (cause !== undefined) log.error({ cause: String(cause) }, 'a thread for large bodies died')
    })
    this.#all.add(thread)
    return thread
  }
}

interface Turn extends BulkheadEntry {
  fail(error: Error): void
}

class BodyThread {
  readonly #worker: Worker
  #isEnding = false

  /** `onEnd` is called when the thread has ended, with the cause unless `end` was called. */
  constructor(script: URL, data: BodyThreadData, heapBytesMax: number, onEnd: (cause: unknown) => void) {
    this.#worker = startThread(script, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(heapBytesMax / 2 ** 20) },
    })
    let cause: unknown = 'it ended on its own'
    this.#worker.on('error', (error) => {
      cause = error
    })
    this.#worker.on('exit', () => onEnd(this.#isEnding ? undefined : cause))
    // A request that waits for a thread has a connection, which keeps the process alive.
    this.#worker.unref()
  }

  ask<Name extends JobName>(job: ThreadJob<Name>): Promise<ThreadJobs[Name]['output']> {
    return new Promise((resolve, reject) => {
      const onExit = () => reject(gatewayError('body_thread_died'))
      this.#worker.once('exit', onExit)
      this.#worker.once('message', (reply: ThreadReply<Name>) => {
        this.#worker.off('exit', onExit)
        if ('error' in reply) reject(errorFrom(reply.error))
        else resolve(reply.output)
      })
      this.#worker.postMessage(job, memoryOf(job))
    })
  }

  learn(keys: LearnedKeys): void {
    this.#worker.postMessage(keys)
  }

  async end(): Promise<void> {
    this.#isEnding = true
    await this.#worker.terminate()
  }
}

/** The memory that is transferred to the thread with a job instead of being copied. */
function memoryOf<Name extends JobName>({ name, input }: ThreadJob<Name>): ArrayBuffer[] {
  if (name !== 'answer' || !('pieces' in input)) return []
  return input.pieces.map(({ buffer }) => buffer)
}
