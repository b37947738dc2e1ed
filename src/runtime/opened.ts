import { inTime } from './in-time.ts'

/** Some parts could not be closed. The log has a line for each; `errors` contains the reasons. */
class CloseError extends AggregateError {
  override readonly name = 'CloseError'
}

/** Logs which part could not be closed. */
export interface CloseLog {
  error(facts: object, message: string): void
}

/**
 * Everything that was opened, to be closed in reverse order: every part, even if another one cannot be
 * closed.
 */
export class Opened {
  readonly #stack = new AsyncDisposableStack()
  readonly #log: CloseLog
  readonly #failures: unknown[] = []
  #closing: Promise<void> | undefined

  constructor(log: CloseLog) {
    this.#log = log
  }

  /**
   * Registers that `part` is open, with the functions that close it. Several functions run at the same time.
   */
  add(part: string, ...closes: (() => unknown)[]): void {
    this.#stack.defer(async () => {
      await Promise.all(closes.map((close) => this.#close(part, close)))
    })
  }

  /**
   * Closes all parts. If some could not be closed, rejects with a CloseError once the rest are closed. A
   * second call waits for the first.
   */
  close(): Promise<void> {
    this.#closing ??= this.#stack.disposeAsync().then(() => {
      if (this.#failures.length > 0) throw new CloseError(this.#failures, 'not all parts could be closed')
    })
    return this.#closing
  }

  async #close(part: string, close: () => unknown): Promise<void> {
    try {
      await close()
    } catch (cause) {
      if (cause instanceof CloseError) {
        this.#failures.push(...cause.errors)
        return
      }
      this.#failures.push(cause)
      this.#log.error({ part, cause: String(cause) }, 'a part could not be closed')
    }
  }
}

/** Opens several parts. If that fails, closes those that are open, then rejects with the reason. */
export async function openAll<Whole>(
  opened: { close(): Promise<void> },
  open: () => Promise<Whole>,
): Promise<Whole> {
  try {
    return await open()
  } catch (error) {
    // Why it cannot be opened matters more than what could not be closed, which is in the log, or what hangs.
    await inTime(opened.close(), closeMs, 'closing').catch(() => {})
    throw error
  }
}

/** More than all parts together may take to close cleanly. */
const closeMs = 20_000
