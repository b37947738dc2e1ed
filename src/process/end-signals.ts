import { inspect } from 'node:util'
import type { Log } from '../telemetry/log.ts'

/**
 * A single Ctrl-C arrives up to three times within milliseconds: the terminal signals all processes of its
 * group, and npm and `runtime.cjs` each forward the signal. Another signal counts as a second one only after
 * this time.
 */
const sameSignalMs = 1_000

/** Calls `first` on the first SIGTERM or SIGINT, and `second` on each later one that an operator sends. */
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
 * Calls `end` on the first uncaught error, which is a bug in Tollgate. Since the process may be in any state,
 * it only ends what is running, and its exit code is 1 from now on. Without this, such an error would end the
 * process immediately and interrupt all other requests.
 */
export function onUncaught(log: Log, end: () => void): void {
  let isFirst = true
  const fail = (error: unknown) => {
    process.exitCode = 1
    // Later errors are consequences or repetitions of the first.
    if (!isFirst) return
    isFirst = false
    try {
      log.fatal({ error: traceOf(error) }, 'a bug: an error was not caught, so this process is shutting down')
      end()
    } catch {
      process.exit(1)
    }
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
}

/** Returns the origin of an error. The log removes secrets. */
function traceOf(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : inspect(error, { depth: 1 })
  return text.slice(0, traceCharactersMax)
}

const traceCharactersMax = 4_000

/** Calls `reload` on each SIGHUP. Node ends a process that does not listen for it. */
export function onReloadSignal(reload: () => void): void {
  process.on('SIGHUP', reload)
}
