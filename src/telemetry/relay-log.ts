import type { Log } from './log.ts'

export type LogLevel = Exclude<keyof Log, 'child'>

/**
 * Returns a log that passes each line to `write`, for threads that have no log of their own, and for code
 * that counts or drops lines.
 */
export function relayLog(
  write: (level: LogLevel, fields: object, message: string) => void,
  bound: object = {},
): Log {
  const at = (level: LogLevel) => (fields: object, message: string) =>
    write(level, { ...bound, ...fields }, message)
  return {
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    child: (fields) => relayLog(write, { ...bound, ...fields }),
  }
}

/** A log that writes nothing. */
export const silentLog: Log = relayLog(() => {})
