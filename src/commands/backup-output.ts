import type { OnProgress, Progress } from '../backup/stored-files.ts'
import type { Terminal } from './terminal.ts'

const terminalMs = 200
const otherMs = 10_000

/** On a terminal one line that changes, elsewhere a line every ten seconds. */
export function showProgress({ streams: { stderr } }: Terminal): { show: OnProgress; end(): void } {
  const isTerminal = stderr.isTTY === true
  let shownAt = performance.now() - (isTerminal ? terminalMs : 0)
  let isShown = false
  return {
    show(progress) {
      const now = performance.now()
      if (now - shownAt < (isTerminal ? terminalMs : otherMs)) return
      shownAt = now
      isShown = isTerminal
      stderr.write(isTerminal ? `\r\u001b[2K${lineOf(progress)}` : `${lineOf(progress)}\n`)
    },
    end() {
      if (isShown) stderr.write('\r\u001b[2K')
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
