import { z } from 'zod'
import { messageWithoutCause } from '../canonical/unreachable.ts'
import type { Job } from './job.ts'

const ms = z.int().nullable()
const time = z.iso.datetime()
const problem = z.object({ kind: z.string(), message: z.string() }).nullable()
const problemOfEnd = z.object({ kind: z.string(), reason: z.string(), message: z.string() }).nullable()

/** The members that every job has: its times, its upstream calls and its outcome. */
export const jobTimes = {
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
}

export const jobCalls = {
  attempts: z
    .array(z.object({ channel: z.string(), status: z.int().nullable(), error: problem, total_ms: ms }))
    .describe('Empty if the tenant is not allowed to see channels (ROUTING_HEADERS).'),
  latency_ms: z.object({ queue: ms, total: ms }),
}

export const jobEnd = {
  error: problemOfEnd,
  cost_nano_usd: z
    .string()
    .nullable()
    .describe('The cost in nano-USD, as decimal digits; null if it is not known.'),
  webhook: z
    .object({ status: z.enum(['pending', 'delivered', 'failed']), tries: z.int() })
    .nullable()
    .describe('Null if the job has no webhook.'),
}

export function jobTimesJson({ createdAt, startedAt, finishedAt }: Job) {
  return {
    created_at: createdAt.toISOString(),
    started_at: startedAt?.toISOString() ?? null,
    finished_at: finishedAt?.toISOString() ?? null,
  }
}

/** If `showsRouting` is false, the attempts are left out, because they name channels. */
export function jobCallsJson({ attempts, createdAt, startedAt, finishedAt }: Job, showsRouting: boolean) {
  const since = (moment: Date | null) =>
    moment === null ? null : Math.max(0, moment.getTime() - createdAt.getTime())
  return {
    attempts: (showsRouting ? attempts : []).map(({ channel, status, error, totalMs }) => ({
      channel,
      status,
      error: error === null ? null : problemOf(error),
      total_ms: totalMs,
    })),
    latency_ms: { queue: since(startedAt), total: since(finishedAt) },
  }
}

export function jobEndJson({ error, costNano, webhookState, webhookTries }: Job) {
  return {
    error: error === null ? null : { ...problemOf(error), reason: error.reason },
    cost_nano_usd: costNano === null ? null : String(costNano),
    webhook: webhookState === null ? null : { status: webhookState, tries: webhookTries },
  }
}

function problemOf({ kind, message }: { kind: string; message: string }) {
  return { kind, message: messageWithoutCause(message) }
}
