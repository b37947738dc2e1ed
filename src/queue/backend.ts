import type { BackendFactory, IQueueBackend } from 'bullmq'
import type { QueueLog, QueueName } from './queue.ts'

/** Where BullMQ keeps the jobs. What stands above does not know which it is. */
export interface Backend {
  name: 'redis' | 'postgres'
  /** For BullMQ's classes, which call it for their connections. The `connection` of their options is not used. */
  connect: BackendFactory<IQueueBackend, typeof unused>
  /** Does not wait for an answer of the server. */
  close(): Promise<void>
}

/** What BullMQ calls a queue of ours. */
export const bullName = (name: QueueName) => `tollgate-${name}`

/** BullMQ demands options for a connection, whoever makes it. */
export const unused = 'unused'

/** Wait for work, but no longer than `waitMs`: then reject. The work itself goes on. */
export async function inTime<T>(work: Promise<T>, waitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the queue did not answer within ${waitMs} ms`)), waitMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A log that says the same message at most once in ten seconds, and then how often it held it back. */
export function quietLog(log: QueueLog): QueueLog {
  const heldBack = new Map<string, { since: number; times: number }>()
  return (message, fields) => {
    const now = Date.now()
    const held = heldBack.get(message)
    if (held !== undefined && now - held.since < quietMs) {
      held.times++
      return
    }
    heldBack.set(message, { since: now, times: 0 })
    log(message, held === undefined || held.times === 0 ? fields : { ...fields, repeated: held.times })
  }
}

const quietMs = 10_000

/** In one line. A connection that was tried at several addresses has only a code to tell. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
