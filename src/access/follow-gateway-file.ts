import type { Worker } from 'node:worker_threads'
import { startThread } from '../runtime/start-thread.ts'
import type { Log } from '../telemetry/log.ts'
import type { GeneratedKey } from './apply-tenants.ts'
import type { OwnFile } from './gateway-file-lines.ts'
import { type SeenFiles, stateOf } from './gateway-file-state.ts'
import type { FromGatewayFileThread, GatewayFileTask } from './gateway-file-thread.ts'

/**
 * Applies gateway.yaml whenever it or a file that it names changes, and on request. An invalid file changes
 * nothing, and the log states what is wrong with it.
 *
 * Polls the file instead of watching it, because editors replace files, Kubernetes swaps a symbolic link in a
 * parent directory, and network file systems do not report changes made by other hosts.
 */
export class GatewayFileFollower {
  readonly #task: GatewayFileTask
  readonly #log: Log
  readonly #withinMs: number
  /** The files that gateway.yaml names. */
  #files: readonly string[]
  #seen: string
  #found: string
  #timer: NodeJS.Timeout | undefined
  #worker: Worker | undefined
  #applying: Promise<void> | undefined
  #again = false
  #stopped = false
  #retryAt = Number.POSITIVE_INFINITY
  #complaint = ''
  #onKeys: (keys: GeneratedKey[]) => void = () => {}

  /**
   * `seen` contains the files that gateway.yaml names, and the result of `stateOf` before any of them was
   * read on startup. A transaction that takes longer than `withinMs` is abandoned, for example when the
   * network has lost its connection.
   */
  constructor(task: GatewayFileTask, { files, state }: SeenFiles, log: Log, withinMs = 120_000) {
    this.#task = task
    this.#withinMs = withinMs
    this.#files = files
    this.#seen = state
    this.#found = state
    this.#log = log
  }

  get own(): OwnFile {
    return this.#task
  }

  /** Starts polling. `onKeys` receives the generated keys, whose secrets cannot be shown again. */
  follow(onKeys: (keys: GeneratedKey[]) => void): void {
    this.#onKeys = onKeys
    this.#plan()
  }

  /** Applies the file now. If the file is already being applied, it is applied once more afterwards. */
  apply(): Promise<void> {
    this.#again = true
    this.#applying ??= this.#applyUntilCurrent()
    return this.#applying
  }

  /** Gives a running transaction a moment to finish. After that it is aborted and rolled back. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    const { promise, resolve } = Promise.withResolvers<void>()
    const timeout = setTimeout(resolve, endMs)
    await Promise.race([this.#applying, promise])
    clearTimeout(timeout)
    await this.#worker?.terminate()
  }

  #plan() {
    if (this.#stopped) return
    this.#timer = setTimeout(() => void this.#poll(), pollMs).unref()
  }

  async #poll() {
    const state = await stateOf(this.#task.path, this.#files)
    // The file may still be being written, so wait until two polls find the same state.
    const isSettled = state === this.#found
    this.#found = state
    if (isSettled && (state !== this.#seen || performance.now() >= this.#retryAt)) await this.apply()
    this.#plan()
  }

  async #applyUntilCurrent() {
    while (this.#again && !this.#stopped) {
      this.#again = false
      this.#retryAt = Number.POSITIVE_INFINITY
      this.#seen = await stateOf(this.#task.path, this.#files)
      await this.#applyOnce()
    }
    this.#applying = undefined
  }

  #applyOnce(): Promise<void> {
    const worker = startThread(new URL('./gateway-file-thread.ts', import.meta.url), {
      workerData: this.#task,
    })
    worker.unref()
    this.#worker = worker
    worker.on('message', (message: FromGatewayFileThread) => this.#take(message))
    // For example because the connection of its transaction was lost.
    worker.on('error', (error) => this.#fail(String(error), true))
    const timeout = setTimeout(() => {
      this.#fail(`it took longer than ${this.#withinMs} ms`, true)
      void worker.terminate()
    }, this.#withinMs)
    return new Promise((resolve) => {
      worker.once('exit', () => {
        clearTimeout(timeout)
        resolve()
      })
    })
  }

  #take(message: FromGatewayFileThread) {
    switch (message.type) {
      case 'log':
        this.#log[message.level](message.fields, message.message)
        return
      case 'read':
        this.#files = message.files
        this.#seen = message.state
        return
      case 'done':
        this.#complaint = ''
        if (message.generated.length > 0) this.#onKeys(message.generated)
        return
      case 'failed':
        this.#fail(message.message, message.passing)
    }
  }

  #fail(cause: string, passing: boolean) {
    if (passing) this.#retryAt = performance.now() + retryMs
    // Log one line per outage. An invalid file is reported again each time it is applied.
    if (passing && cause === this.#complaint) return
    this.#complaint = cause
    const advice = passing ? 'it will be retried' : 'the previous configuration stays in force'
    this.#log.error({ cause }, `gateway.yaml was not applied; ${advice}`)
  }
}

const pollMs = 1_000
const retryMs = 5_000
const endMs = 2_000
