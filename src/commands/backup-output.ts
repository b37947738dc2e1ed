import type { OnProgress, Progress } from '../backup/stored-files.ts'

/** Where a command prints its result, and tells what else there is. */
export interface CommandOutput {
  print(line: string): void
  tell(text: string): void
  /** Whether `tell` goes to a terminal. */
  isTerminal: boolean
}

const terminalMs = 200
const otherMs = 10_000

/** On a terminal one line that changes, elsewhere a line every ten seconds. */
export function showProgress(output: CommandOutput): { show: OnProgress; end(): void } {
  let shownAt = performance.now() - (output.isTerminal ? terminalMs : 0)
  let isShown = false
  return {
    show(progress) {
      const now = performance.now()
      if (now - shownAt < (output.isTerminal ? terminalMs : otherMs)) return
      shownAt = now
      isShown = output.isTerminal
      output.tell(output.isTerminal ? `\r\u001b[2K${lineOf(progress)}` : `${lineOf(progress)}\n`)
    },
    end() {
      if (isShown) output.tell('\r\u001b[2K')
      isShown = false
    },
  }
}

function lineOf({ doing, doneBytes, totalBytes }: Progress): string {
  if (totalBytes === 0) return `${doing} ...`
  const percent = Math.floor((100 * doneBytes) / totalBytes)
  return `${doing}: ${sizeOf(doneBytes)} of ${sizeOf(totalBytes)}, ${percent} %`
}

/** Such as 12.3 MiB. */
export function sizeOf(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  let [size, unit] = [bytes, 0]
  while (size >= 1024 && unit < units.length - 1) [size, unit] = [size / 1024, unit + 1]
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`
}
