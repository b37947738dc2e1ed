import { type ChildProcess, fork } from 'node:child_process'
import { rmSync } from 'node:fs'
import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import { Bulkhead, type BulkheadEntry } from '../../runtime/bulkhead.ts'
import type { Log } from '../../telemetry/log.ts'
import { ListAgainError } from './list-again.ts'
import {
  type ArchiveQuery,
  type FromReader,
  type ReaderOptions,
  scratchOf,
  type ToReader,
} from './reader-messages.ts'

export interface ReaderTerms {
  withinMs: number
  signal?: AbortSignal | undefined
}

/**
 * Queries the archive in a separate process, which is started by the first query, so that DuckDB can use
 * memory and processor time, and even crash, without affecting requests. Queries run one at a time, in order
 * of arrival.
 */
export class ArchiveReader {
  readonly #options: ReaderOptions
  readonly #log: Log
  #child: ChildProcess | undefined
  #last = 0
  readonly #turns = new Bulkhead<Pending>({
    running: 1,
    waiting: waitingMax,
    refuse: () => gatewayError('archive_queries_full', { waitingMax }, { retryAfterSeconds: 1 }),
  })
  readonly #program: string | URL

  /** `program` is the entry point of the reader process. */
  constructor(options: ReaderOptions, log: Log, program = new URL('./reader-process.ts', import.meta.url)) {
    this.#program = program
    this.#options = options
    this.#log = log
  }

  /**
   * Rejects with GatewayError `rate_limited` if too many queries wait, with `unavailable` if there is no
   * answer in time or the archive cannot be read, with the signal's reason if the caller has left, or with
   * ListAgainError.
   */
  ask(query: ArchiveQuery, { withinMs, signal }: ReaderTerms): Promise<Record<string, unknown>[]> {
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      this.#turns.requireRoom()
      const id = ++this.#last
      const pending: Pending = {
        id,
        begin: () => this.#tell({ kind: 'ask', id, query }),
        resolve,
        reject,
        timer: setTimeout(
          () => this.#leave(pending, gatewayError('archive_late', { withinMs }, { retryAfterSeconds: 2 })),
          withinMs,
        ),
      }
      signal?.addEventListener('abort', () => this.#leave(pending, signal.reason), { once: true })
      this.#turns.add(pending)
    })
  }

  close(): void {
    const gone = away(new Error('the process is shutting down'))
    for (const pending of this.#turns.withdrawAll()) settle(pending, pending.reject, gone)
    const running = this.#running
    if (running !== undefined) this.#end(running, running.reject, gone)
    const child = this.#child
    this.#child = undefined
    if (child === undefined) return
    child.kill('SIGKILL')
    // This process may end before it is notified of the child's exit.
    this.#removeScratch(child)
  }

  /** Deletes the files that did not fit into DuckDB's memory, which a killed process leaves behind. */
  #removeScratch({ pid }: ChildProcess): void {
    if (pid === undefined) return
    try {
      rmSync(scratchOf(this.#options.cache, pid), { recursive: true, force: true })
    } catch (error) {
      this.#log.warn({ error: String(error) }, 'temporary files of the archive cannot be deleted')
    }
  }

  get #running(): Pending | undefined {
    const [running] = this.#turns.running
    return running
  }

  /** Ends the running query and starts the next one. */
  #end<T>(pending: Pending, how: (value: T) => void, value: T): void {
    settle(pending, how, value)
    this.#turns.end(pending)
  }

  /** Called when the caller no longer waits. If the query does not end soon, its process is killed. */
  #leave(pending: Pending, reason: unknown): void {
    settle(pending, pending.reject, reason)
    if (this.#turns.withdraw(pending) || this.#running !== pending) return
    this.#tell({ kind: 'cancel', id: pending.id })
    const child = this.#child
    if (child === undefined) return
    setTimeout(() => {
      if (this.#running === pending) this.#kill(child, new Error('a cancelled query did not end'))
    }, cancelMs).unref()
  }

  #tell(message: ToReader): void {
    const child = this.#child ?? this.#start()
    child.send(message, (error) => {
      if (error !== null) this.#kill(child, error)
    })
  }

  /** From now on the process is ignored: the next query must not be given to one that is about to end. */
  #kill(child: ChildProcess, reason: Error): void {
    child.kill('SIGKILL')
    this.#ended(child, reason)
  }

  #start(): ChildProcess {
    const child = fork(this.#program, {
      serialization: 'advanced',
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.unref()
    child.channel?.unref()
    child.on('message', (message: FromReader) => {
      if (this.#child === child) this.#take(message)
    })
    child.once('error', (error) => this.#ended(child, error))
    child.once('exit', (code, signal) => {
      this.#removeScratch(child)
      this.#ended(child, new Error(`the archive reader exited (${signal ?? code})`))
    })
    this.#child = child
    child.send({ kind: 'open', options: this.#options } satisfies ToReader)
    return child
  }

  #take(message: FromReader): void {
    const pending = this.#running
    if (pending === undefined || pending.id !== message.id) return
    if ('rows' in message) this.#end(pending, pending.resolve, message.rows)
    else if (message.missing) this.#end(pending, pending.reject, new ListAgainError(message.failed))
    else {
      if (!pending.settled) this.#log.warn({ cause: message.failed }, 'the archive cannot be read')
      this.#end(pending, pending.reject, away(new Error(message.failed)))
    }
  }

  #ended(child: ChildProcess, error: Error): void {
    if (this.#child !== child) return
    this.#child = undefined
    const pending = this.#running
    if (pending === undefined) return
    if (!pending.settled) this.#log.warn({ cause: error.message }, 'the archive cannot be read')
    this.#end(pending, pending.reject, away(error))
  }
}

interface Pending extends BulkheadEntry {
  id: number
  resolve(rows: Record<string, unknown>[]): void
  reject(reason: unknown): void
  timer: NodeJS.Timeout
  settled?: true
}

function settle<T>(pending: Pending, how: (value: T) => void, value: T): void {
  clearTimeout(pending.timer)
  pending.settled = true
  how(value)
}

const waitingMax = 20
/** A cancelled query must end within this time. */
const cancelMs = 2_000

/** The cause is only for the log, because it can contain paths and bucket names. */
function away(cause: Error): GatewayError {
  const isMissing = cause.message.includes('@duckdb/node-api')
  return gatewayError(
    isMissing ? 'archive_without_duckdb' : 'archive_away',
    {},
    { cause, retryAfterSeconds: 5 },
  )
}
