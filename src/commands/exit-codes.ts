/**
 * The exit codes shared by all commands. docs/reference/command-line.md shows their meanings; a test compares
 * the two.
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
  0: 'success, and everything checked is in order',
  1: 'a check failed, or the changes were not made',
  2: 'the command line, the configuration or a file is invalid',
  3: 'the gateway or the database cannot be reached or opened',
  4: 'the gateway refused the call',
  70: 'a bug in Tollgate',
  141: 'the reader of the output closed the pipe, as head does',
}

/** The code that shells report for a program ended by a signal. */
export function codeOfSignal({ reason }: AbortSignal): number {
  return reason === 'SIGTERM' ? 143 : 130
}

/** Ends the command with this exit code. The message says what happened and what to do. */
export class CommandError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** The error for an invalid command line, variable or file. */
export function wrongUsage(message: string, cause?: unknown): CommandError {
  return new CommandError(exitCodes.usage, message, { cause })
}
