import { destination, pino } from 'pino'
import { redactText } from '../redaction/redact.ts'

/**
 * The log interface used everywhere. Each call is one event: `fields` contains ids and facts, never bodies.
 */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** For the last line of a process that cannot continue. */
  fatal(fields: object, message: string): void
  /** Returns a log that adds these fields to each of its lines. */
  child(fields: object): Log
}

/**
 * Opens the log of a process, which writes to standard error. `auto` writes lines for people to a terminal,
 * and JSON to anything else.
 */
export async function openLog(level: string, format: 'auto' | 'json' | 'text'): Promise<Log> {
  const isForPeople = format === 'text' || (format === 'auto' && process.stderr.isTTY)
  if (!isForPeople) return makeLog(level)
  const { isColorSupported, prettyFactory } = await import('pino-pretty')
  const lineOf = prettyFactory({
    colorize: isColorSupported && process.stderr.isTTY,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
  })
  const to = standardError()
  return makeLog(level, { write: (line) => to.write(lineOf(line)) })
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
 * Returns the log of one request, whose lines contain the request's id. Call it only where a line is written,
 * because creating a child logger would be wasted on a request that logs nothing.
 */
export function requestLog(log: Log, requestId: string): Log {
  return log.child({ request: requestId })
}

/** Longer lines are cut off here, although no field should make a line this long. */
const lineCharactersMax = 64 * 1024

function redactedLine(line: string): string {
  if (line.length <= lineCharactersMax) return redactText(line, [], lineCharactersMax)
  return `${redactText(line, [], lineCharactersMax)}\n`
}

/**
 * Fields that may contain a secret or a body. `redactText` recognises secrets by their form, but some secrets
 * have no distinctive form.
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
 * The only list of redacted paths. Each field is redacted at the top level of a line and in top-level objects
 * such as `headers`.
 */
export const redactedPaths: readonly string[] = redactedFields.flatMap((name) => [
  `["${name}"]`,
  `*["${name}"]`,
])

function standardError() {
  return destination({ fd: 2, sync: true })
}
