import { destination, pino } from 'pino'
import { redactText } from '../redaction/redact.ts'

export type Log = ReturnType<typeof makeLog>

/** One JSON line per event on standard error, ids and event fields, never bodies. No secret passes, whoever logs it. */
export function makeLog(level: string) {
  return pino(
    { level, base: null, hooks: { streamWrite: (line) => redactText(line) } },
    destination({ fd: 2, sync: true }),
  )
}
