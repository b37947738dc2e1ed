import type { BackendFactory, IQueueBackend } from 'bullmq'
import type { Log } from '../telemetry/log.ts'
import { relayLog } from '../telemetry/relay-log.ts'
import type { QueueName } from './queue.ts'

/** The store of BullMQ's jobs. Its callers work with every backend. */
export interface QueueBackend {
  name: 'redis' | 'postgres'
  /** BullMQ's classes call it to connect. They ignore the `connection` of their options. */
  connect: BackendFactory<IQueueBackend, typeof unused>
  /** It does not wait for an answer of the server. */
  close(): Promise<void>
}

/** BullMQ's name of a queue. */
export const bullName = (name: QueueName) => `tollgate-${name}`

/** BullMQ requires a `connection` option, although `Backend.connect` connects. */
export const unused = 'unused'

/**
 * A log that writes the same message at most once in ten seconds, with the number of lines that it left out.
 */
export function quietLog(log: Log): Log {
  const heldBack = new Map<string, { since: number; times: number }>()
  return relayLog((level, fields, message) => {
    const now = Date.now()
    const held = heldBack.get(message)
    if (held !== undefined && now - held.since < quietMs) {
      held.times++
      return
    }
    heldBack.set(message, { since: now, times: 0 })
    log[level](held === undefined || held.times === 0 ? fields : { ...fields, repeated: held.times }, message)
  })
}

const quietMs = 10_000

/** The error in one line. A connection that failed at several addresses has no message, only a code. */
export function lineOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
