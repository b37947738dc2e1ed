import { isAnswer, reasonOf } from '../db/failures.ts'
import { ToolError } from './backup/postgres-tools.ts'
import type { CopyProgress, OnProgress } from './backup/stored-files.ts'
import { messageWithCauses } from './command-database.ts'
import { CommandError, type ExitCode, exitCodes } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

const terminalMs = 200
const otherMs = 10_000

/** Updates a single line on a terminal; elsewhere writes a line every ten seconds, even without progress. */
export function showProgress({ streams: { stderr } }: Terminal): { show: OnProgress; end(): void } {
  const isTerminal = stderr.isTTY === true
  const everyMs = isTerminal ? terminalMs : otherMs
  let shownAt = performance.now() - (isTerminal ? terminalMs : 0)
  let isShown = false
  let last: CopyProgress | undefined
  let begunAt = shownAt
  const show = () => {
    const now = performance.now()
    if (last === undefined || now - shownAt < everyMs) return
    shownAt = now
    isShown = isTerminal
    const line = lineOf(last, (now - begunAt) / 1000)
    stderr.write(isTerminal ? `\r\u001b[2K${line}` : `${line}\n`)
  }
  // The Postgres programs do not report their progress.
  const timer = setInterval(show, everyMs).unref()
  return {
    show(progress) {
      if (progress.doing !== last?.doing) begunAt = performance.now()
      last = progress
      show()
    },
    end() {
      clearInterval(timer)
      if (isShown) stderr.write('\r\u001b[2K')
      isShown = false
      last = undefined
    },
  }
}

function lineOf({ doing, doneBytes, totalBytes }: CopyProgress, seconds: number): string {
  if (totalBytes === 0) return `${doing} ... ${Math.floor(seconds)} s`
  const percent = Math.floor((100 * doneBytes) / totalBytes)
  return `${doing}: ${sizeText(doneBytes)} of ${sizeText(totalBytes)}, ${percent} %`
}

/** Formats a size, such as 12.3 MiB. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  let [size, unit] = [bytes, 0]
  while (size >= 1024 && unit < units.length - 1) [size, unit] = [size / 1024, unit + 1]
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`
}

/**
 * Returns the error of a backup or restore as a CommandError whose message begins with `what`. An internal
 * error is returned unchanged.
 */
export function copyFailure(what: string, error: unknown): unknown {
  if (error instanceof CommandError) return error
  const code = codeOf(reasonOf(error))
  if (code === undefined) return error
  return new CommandError(code, `${what}: ${messageWithCauses(reasonOf(error))}`, { cause: error })
}

function codeOf(error: unknown): ExitCode | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof ToolError) return exitCodes.notWell
  const code = 'code' in error ? String(error.code) : ''
  if (isAnswer(error)) return /^(08|28|3D|53|57)/.test(code) ? exitCodes.unreachable : exitCodes.notWell
  if (/^(CONN|ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOST|ENET)/.test(code)) return exitCodes.unreachable
  // Any other failed system call concerns the disk: a wrong path, or a disk that is full or failing.
  if ('syscall' in error)
    return /^(ENOENT|ENOTDIR|EISDIR|EACCES|EPERM|EEXIST|EROFS)$/.test(code)
      ? exitCodes.usage
      : exitCodes.notWell
  // Our own errors are plain Errors with a message for the operator.
  return error.constructor === Error ? exitCodes.usage : undefined
}
