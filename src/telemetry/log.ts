import { destination, pino } from 'pino'
import { redactText } from '../redaction/redact.ts'

/** The log of all parts. Each call is one event: `fields` are ids and facts, never bodies. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** For the last line of a process that cannot go on. */
  fatal(fields: object, message: string): void
  /** A log that adds these fields to each of its lines. */
  child(fields: object): Log
}

/**
 * Writes one JSON line per event to standard error. `redactedPaths` and `redactText` keep secrets out of
 * every line.
 */
export function makeLog(level: string, stream: { write(line: string): void } = standardError()): Log {
  return pino(
    {
      level,
      base: null,
      redact: { paths: [...redactedPaths], censor: '[REDACTED]' },
      hooks: { streamWrite: redactedLine },
    },
    stream,
  )
}

/**
 * The log of one request: each line carries its id. Call it only where a line is written: it makes a child
 * logger, which a request that logs nothing should not pay for.
 */
export function requestLog(log: Log, requestId: string): Log {
  return log.child({ request: requestId })
}

/** A line that is longer, as no field should make it, ends there. */
const lineCharactersMax = 64 * 1024

function redactedLine(line: string): string {
  if (line.length <= lineCharactersMax) return redactText(line, [], lineCharactersMax)
  return `${redactText(line, [], lineCharactersMax)}\n`
}

/**
 * Fields that may hold a secret or a body. `redactText` knows secrets by their form; some secrets have none.
 */
const redactedFields = [
  'authorization',
  'cookie',
  'x-api-key',
  'apiKey',
  'credential',
  'credentials',
  'password',
  'secret',
  'token',
  'body',
]

/**
 * The only list of redacted paths: each field at the top of a line and in an object at the top, such as
 * `headers`.
 */
export const redactedPaths: readonly string[] = redactedFields.flatMap((name) => [
  `["${name}"]`,
  `*["${name}"]`,
])

function standardError() {
  return destination({ fd: 2, sync: true })
}
