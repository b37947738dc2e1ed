import { exitCodes } from './exit-codes.ts'

/** Whether what a command prints arrives. Node ignores SIGPIPE: it tells each failed write by an event. */
export class OutputLoss {
  #error: Error | undefined
  readonly #lost = new AbortController()

  /** Also keeps the process alive: an event `error` without a listener would end it. */
  constructor(stdout: Pick<NodeJS.EventEmitter, 'on'>) {
    stdout.on('error', (error: Error) => {
      this.#error ??= error
      this.#lost.abort(error)
    })
  }

  /** Aborts at the first text that could not be written. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /**
   * The exit code of a command that has ended with `code`. The caller must not take a lost output for
   * success.
   */
  codeAfter(code: number, tell: (line: string) => void): number {
    if (this.#error === undefined) return code
    const hasReader = !('code' in this.#error && this.#error.code === 'EPIPE')
    if (hasReader) tell(`tollgate: what it printed could not be written: ${this.#error.message}`)
    if (code !== exitCodes.done) return code
    return hasReader ? exitCodes.notWell : exitCodes.readerLeft
  }
}
