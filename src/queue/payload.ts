import type { JobsOptions } from 'bullmq'
import { z } from 'zod'
import type { QueuedJob } from './queue.ts'

/** The data of a job. It has a version, because jobs outlive the process that added them. */
export function payloadOf(id: string): Payload {
  return { v: 1, id }
}

export type Payload = z.infer<typeof payload>

const payload = z.object({ v: z.literal(1), id: z.string().min(1) })

/** Undefined: another version of this program wrote it, in another form. */
export function jobIdOf(data: unknown): string | undefined {
  const parsed = payload.safeParse(data)
  return parsed.success ? parsed.data.id : undefined
}

/** BullMQ's options for one of our jobs. */
export function jobOptions(job: QueuedJob): JobsOptions {
  return {
    // BullMQ takes no ':' in an id, and no number (https://docs.bullmq.io/guide/jobs/job-ids).
    jobId: `id-${encodeURIComponent(job.id)}`,
    // In BullMQ a lower number runs first, and 0 means no priority, which runs before all others.
    priority: 101 - Math.min(100, Math.max(0, Math.round(job.priority))),
    delay: job.delayMs ?? 0,
    // Practically without end: Postgres decides when a job has failed.
    attempts: 1_000_000_000,
    backoff: { type: 'fixed', delay: 5_000 },
    // So an id can be added again after its job has ended, and old jobs do not pile up.
    removeOnComplete: true,
    removeOnFail: true,
    stackTraceLimit: 0,
  }
}
