import { hasEnded, type Job } from '../jobs/job.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import { cancelledEnding } from './image-ending.ts'

/**
 * Cancels a job: immediately if it is waiting, otherwise as soon as its worker sees the request. A job that
 * has ended is left unchanged. Returns the current job, or undefined if it does not exist.
 */
export async function cancelJob({ jobs }: Pick<Gateway, 'jobs'>, id: string): Promise<Job | undefined> {
  for (;;) {
    const [job] = await jobs.read([id])
    if (job === undefined || hasEnded(job)) return job
    // Each statement has no effect if a worker claimed the job, or put it back, in the meantime. The next
    // round then tries the other statement.
    if (job.state === 'queued') {
      const ending = cancelledEnding({
        job,
        attempts: job.attempts,
        previews: job.partials,
        credentials: new Set(),
      })
      await jobs.finish({ id, fence: job.fence }, 'queued', job, ending)
    } else if (await jobs.askToCancel(id)) return job
  }
}
