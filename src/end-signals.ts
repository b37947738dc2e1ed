import { inspect } from 'node:util'
import type { Log } from './telemetry/log.ts'

/**
 * One Ctrl-C arrives up to three times, within milliseconds: the terminal signals all processes of its group,
 * and npm and `runtime.cjs` each send on what they get. A signal counts as a second one only after this time.
 */
const sameSignalMs = 1_000

/** Call `first` at the first SIGTERM or SIGINT, and `second` at each that an operator sends after it. */
export function onEndSignal(first: (signal: NodeJS.Signals) => void, second: () => void): void {
  let firstAt: number | undefined
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (firstAt !== undefined) {
        if (performance.now() - firstAt >= sameSignalMs) second()
        return
      }
      firstAt = performance.now()
      first(signal)
    })
  }
}

/**
 * Call `end` at the first error that nothing caught: a bug of ours. The process may be in any state, so it
 * only ends what runs, and its exit code is 1 from now on. Without this, such an error would end the process
 * at once, and cut what others have running.
 */
export function onUncaught(log: Log, end: () => void): void {
  let isFirst = true
  const fail = (error: unknown) => {
    process.exitCode = 1
    // Later ones follow from the first, or say the same.
    if (!isFirst) return
    isFirst = false
    try {
      log.fatal({ error: traceOf(error) }, 'a bug: nothing caught an error, so this process ends')
      end()
    } catch {
      process.exit(1)
    }
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
}

/** Where an error comes from. The log removes secrets. */
function traceOf(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : inspect(error, { depth: 1 })
  return text.slice(0, traceCharactersMax)
}

const traceCharactersMax = 4_000

/** Call `reload` at each SIGHUP. Node ends a process that does not listen for it. */
export function onReloadSignal(reload: () => void): void {
  process.on('SIGHUP', reload)
}
