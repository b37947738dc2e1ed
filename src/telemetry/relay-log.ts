import type { Log } from './log.ts'

export type LogLevel = Exclude<keyof Log, 'child'>

/**
 * A log that hands each line to `write`: for a thread that has no log of its own, and for what counts or
 * drops lines.
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
