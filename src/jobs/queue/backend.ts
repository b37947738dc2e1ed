import type { BackendFactory, IQueueBackend } from 'bullmq'
import type { Log } from '../../telemetry/log.ts'
import { relayLog } from '../../telemetry/relay-log.ts'
import type { QueueName } from './queue.ts'

/** The store for BullMQ's jobs. Calling code works with every backend. */
export interface QueueBackend {
  name: 'redis' | 'postgres'
  /** Called by BullMQ's classes to connect. They ignore the `connection` in their options. */
  connect: BackendFactory<IQueueBackend, typeof unused>
  /** Does not wait for a response from the server. */
  close(): Promise<void>
}

/** The name of a queue in BullMQ. */
export const bullName = (name: QueueName) => `tollgate-${name}`

/** BullMQ requires a `connection` option, although `Backend.connect` connects. */
export const unused = 'unused'

/**
 * Wraps a log so that the same message is written at most once every ten seconds, with the number of
 * suppressed lines.
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

/** The error on one line. An error from a host with several addresses has no message, only a code. */
export function lineOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
