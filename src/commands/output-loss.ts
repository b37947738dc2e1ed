import { exitCodes } from './exit-codes.ts'

/**
 * Tracks whether the output of a command is written. Node ignores SIGPIPE and emits an event for each failed
 * write instead.
 */
export class OutputLoss {
  #error: Error | undefined
  readonly #lost = new AbortController()

  /** The listener also keeps the process alive, because an `error` event without a listener would end it. */
  constructor(stdout: Pick<NodeJS.EventEmitter, 'on'>) {
    stdout.on('error', (error: Error) => {
      this.#error ??= error
      this.#lost.abort(error)
    })
  }

  /** Aborts on the first write that fails. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /**
   * Returns the final exit code of a command that ended with `code`, so that lost output does not look like
   * success.
   */
  codeAfter(code: number, tell: (line: string) => void): number {
    if (this.#error === undefined) return code
    const hasReader = !('code' in this.#error && this.#error.code === 'EPIPE')
    if (hasReader) tell(`tollgate: the output could not be written: ${this.#error.message}`)
    if (code !== exitCodes.done) return code
    return hasReader ? exitCodes.notWell : exitCodes.readerLeft
  }
}
