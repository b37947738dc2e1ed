/**
 * What the exit codes of all commands mean. docs/reference/command-line.md shows this table, and a test
 * compares them.
 */
export const exitCodes = {
  done: 0,
  notWell: 1,
  usage: 2,
  unreachable: 3,
  refused: 4,
  fault: 70,
  readerLeft: 141,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export const meanings: Readonly<Record<ExitCode, string>> = {
  0: 'done, and what was asked about is well',
  1: 'what was asked about is not well, or nothing was written',
  2: 'the command line, the configuration or a file is wrong',
  3: 'the gateway or the database cannot be reached or opened',
  4: 'the gateway refuses the call',
  70: 'a fault of Tollgate',
  141: 'the reader of its output has left, as head does',
}

/** What a shell says about a program that a signal ended. */
export function codeOfSignal({ reason }: AbortSignal): number {
  return reason === 'SIGTERM' ? 143 : 130
}

/** The command ends with this code. The message says what happened and what to do. */
export class CommandError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** The command line, a variable or a file is wrong. */
export function wrongUsage(message: string, cause?: unknown): CommandError {
  return new CommandError(exitCodes.usage, message, { cause })
}
