import type { Worker } from 'node:worker_threads'
import { startThread } from '../runtime/start-thread.ts'
import type { Log } from '../telemetry/log.ts'
import type { GeneratedKey } from './apply-tenants.ts'
import type { OwnFile } from './gateway-file-lines.ts'
import { type SeenFiles, stateOf } from './gateway-file-state.ts'
import type { FromGatewayFileThread, GatewayFileTask } from './gateway-file-thread.ts'

/**
 * Applies gateway.yaml again whenever it changes, or a file that it names, and when asked. A file that cannot
 * be used changes nothing, and the log says what is wrong with it.
 *
 * It polls the file instead of watching it: editors replace files, Kubernetes swaps a link of a directory
 * above, and network disks report no changes of others.
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
   * `seen`: the files that gateway.yaml names, and what `stateOf` answered before the start read any of them.
   * A transaction that takes longer than `withinMs` is given up, as when the network forgot its connection.
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

  /** Begin. `onKeys` gets the keys that were generated: it is the only chance to show their secrets. */
  follow(onKeys: (keys: GeneratedKey[]) => void): void {
    this.#onKeys = onKeys
    this.#plan()
  }

  /** Apply the file now. A call while it is being applied has it applied once more. */
  apply(): Promise<void> {
    this.#again = true
    this.#applying ??= this.#applyUntilCurrent()
    return this.#applying
  }

  /** Gives a running transaction a moment. What is cut off is rolled back. */
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
    // The file may still be being written: wait until it stays the same.
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
    // As when the connection of its transaction dies.
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
    // One outage has one line. A wrong file is reported again when it was asked for again.
    if (passing && cause === this.#complaint) return
    this.#complaint = cause
    const advice = passing ? 'it is tried again' : 'what was in force still is'
    this.#log.error({ cause }, `gateway.yaml is not applied; ${advice}`)
  }
}

const pollMs = 1_000
const retryMs = 5_000
const endMs = 2_000
