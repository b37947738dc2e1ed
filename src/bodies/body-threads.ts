import type { Worker } from 'node:worker_threads'
import { gatewayError } from '../canonical/error.ts'
import { Bulkhead, type BulkheadEntry } from '../runtime/bulkhead.ts'
import { startThread } from '../runtime/start-thread.ts'
import type { Log } from '../telemetry/log.ts'
import type { BodyThreadData, LearnedKeys, ThreadReply } from './body-thread.ts'
import type { JobName, ThreadJob, ThreadJobs } from './thread-jobs.ts'
import { errorFrom } from './wire-error.ts'

export interface BodyThreadsOptions {
  /** Most threads. They start when they are first needed. */
  threads: number
  /** Most bodies that wait for a thread. */
  waitingMax: number
  /** Memory that one thread may use for objects and texts. It must be more than any body needs. */
  heapBytesMax: number
  data: BodyThreadData
  log: Log
  /** The script of a thread, for tests. */
  script?: URL
}

/** A job that was asked for. */
export interface RunningJob<Output> {
  readonly done: Promise<Output>
  /**
   * The result is no longer wanted: `done` rejects with the reason. A thread that has begun the job ends it.
   */
  abort(reason: Error): void
}

/**
 * The threads that work on large bodies, so that no body holds up the event loop. Each does one job at a
 * time. The jobs of keys take turns: many large bodies of one key keep those of another waiting for one job
 * at most.
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

  /** For the operator. `done`: jobs that threads have ended. */
  state(): { threads: number; waiting: number; done: number } {
    return { threads: this.#all.size, waiting: this.#turns.waiting, done: this.#done }
  }

  /**
   * Open envelopes with these keys from now on. A thread ends the job that it has begun with the keys of
   * before.
   */
  learn(keys: LearnedKeys): void {
    this.#data = { ...this.#data, ...keys }
    for (const thread of this.#all) thread.learn(keys)
  }

  /**
   * Throws when another body of this key would wait too long: `rate_limited` for its own bodies,
   * `unavailable` for all.
   */
  requireRoom(keyId: string): void {
    this.#turns.requireRoom(keyId)
  }

  /**
   * Do a job of a key in a thread. `done` rejects as the job throws, and with `internal` when the thread dies
   * of it.
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

  /** End the threads. What waits fails. */
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
      if (cause !== undefined) log.error({ cause: String(cause) }, 'a thread for large bodies has died')
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

  /** `onEnd`: called when the thread has ended, with the cause unless `end` was called. */
  constructor(script: URL, data: BodyThreadData, heapBytesMax: number, onEnd: (cause: unknown) => void) {
    this.#worker = startThread(script, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(heapBytesMax / 2 ** 20) },
    })
    let cause: unknown = 'it ended by itself'
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

/** The memory that moves to the thread with a job, without a copy. */
function memoryOf<Name extends JobName>({ name, input }: ThreadJob<Name>): ArrayBuffer[] {
  if (name !== 'answer' || !('pieces' in input)) return []
  return input.pieces.map(({ buffer }) => buffer)
}
