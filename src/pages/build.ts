import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Log } from '../telemetry/log.ts'

/** How far the build of the pages is, for whoever asks for one. */
export type BuildState =
  /** `since`: in ms of Date.now(). */
  { step: 'building'; since: number; modules: number } | { step: 'failed'; reason: string }

/** What build-process.ts tells the process that started it. */
export type BuildMessage =
  | { event: 'begun' }
  | { event: 'read'; modules: number }
  | { event: 'built'; seconds: number }
  /** They are as new as their sources, or nothing is here to build them from. */
  | { event: 'fresh' }
  | { event: 'failed'; reason: string }

/** The build of the pages, in a process of its own, which gets the time that no other process wants. */
export class PagesBuild {
  readonly #root: string
  readonly #log: Log
  #state: BuildState | undefined

  /** `root`: the checkout. */
  constructor(root: string, log: Log) {
    this.#root = root
    this.#log = log
  }

  /**
   * Build the pages unless they are as new as their sources, or another process builds them, or a build has failed. Returns
   * how far it is. The build's process ends when this one does.
   */
  start(): BuildState {
    if (this.#state !== undefined) return this.#state
    const begun: BuildState = { step: 'building', since: Date.now(), modules: 0 }
    this.#state = begun
    const child = spawn(process.execPath, [join(import.meta.dirname, 'build-process.ts'), this.#root], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    let hasEnded = false
    child.on('message', (message) => {
      const told = message as BuildMessage
      hasEnded ||= told.event === 'built' || told.event === 'fresh' || told.event === 'failed'
      this.#take(told)
    })
    child.on('error', (cause) => this.#fail(String(cause)))
    child.on('exit', (code, signal) => {
      if (!hasEnded) this.#fail(`the build ended with ${signal ?? `exit code ${code}`}`)
    })
    child.unref()
    child.channel?.unref()
    return begun
  }

  #take(message: BuildMessage): void {
    switch (message.event) {
      case 'begun':
        this.#log.info({}, 'building the pages')
        return
      case 'read':
        if (this.#state?.step === 'building') this.#state = { ...this.#state, modules: message.modules }
        return
      case 'built':
        this.#state = undefined
        this.#log.info({}, `pages built in ${message.seconds.toFixed(1)} s`)
        return
      case 'fresh':
        this.#state = undefined
        return
      case 'failed':
        this.#fail(message.reason)
    }
  }

  #fail(reason: string): void {
    this.#state = { step: 'failed', reason }
    this.#log.warn({ cause: reason }, 'the pages cannot be built; the API works without them')
  }
}
