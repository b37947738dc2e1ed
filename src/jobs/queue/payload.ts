import type { JobsOptions } from 'bullmq'
import { z } from 'zod'
import type { QueuedJob } from './queue.ts'

/** The data of a job. It has a version because jobs outlive the process that added them. */
export function payloadOf(id: string): Payload {
  return { v: 1, id }
}

export type Payload = z.infer<typeof payload>

const payload = z.object({ v: z.literal(1), id: z.string().min(1) })

/** Returns undefined if another version of this program wrote the data in another form. */
export function jobIdOf(data: unknown): string | undefined {
  const parsed = payload.safeParse(data)
  return parsed.success ? parsed.data.id : undefined
}

/** BullMQ's options for one of our jobs. */
export function jobOptions(job: QueuedJob): JobsOptions {
  return {
    // BullMQ does not accept a ':' in an id, or a numeric id (https://docs.bullmq.io/guide/jobs/job-ids).
    jobId: `id-${encodeURIComponent(job.id)}`,
    // In BullMQ lower numbers run first, except that 0 means no priority and runs before all others.
    priority: 101 - Math.min(100, Math.max(0, Math.round(job.priority))),
    delay: job.delayMs ?? 0,
    // Practically unlimited, because Postgres decides when a job has failed.
    attempts: 1_000_000_000,
    backoff: { type: 'fixed', delay: 5_000 },
    // Allows an id to be added again after its job has ended, and keeps old jobs from piling up.
    removeOnComplete: true,
    removeOnFail: true,
    stackTraceLimit: 0,
  }
}
