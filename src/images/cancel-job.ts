import { hasEnded, type Job } from '../jobs/job.ts'
import type { Gateway } from '../stages/gateway.ts'
import { cancelledEnding } from './image-ending.ts'

/**
 * Cancel a job: at once if it waits, or as soon as its worker sees the request. An ended job stays as it is.
 * Returns the job as it is now; undefined when it does not exist.
 */
export async function cancelJob({ jobs }: Pick<Gateway, 'jobs'>, id: string): Promise<Job | undefined> {
  for (;;) {
    const [job] = await jobs.read([id])
    if (job === undefined || hasEnded(job)) return job
    // Each statement does nothing when a worker claimed the job, or put it back, in between. The next round
    // then tries the other.
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
