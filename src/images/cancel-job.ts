import { hasEnded } from './follow-job.ts'
import { cancelledEnding } from './image-ending.ts'
import type { ImageGateway } from './image-gateway.ts'
import type { ImageJob } from './jobs/job.ts'

/**
 * End a job that nobody wants any more: at once where it waits, as soon as its worker hears of it where it runs.
 * Answers the job as it is then; undefined when there is none. One that has ended stays as it is.
 */
export async function cancelJob(
  gateway: Pick<ImageGateway, 'images'>,
  id: string,
): Promise<ImageJob | undefined> {
  const { jobs } = gateway.images
  for (;;) {
    const [job] = await jobs.read([id])
    if (job === undefined || hasEnded(job)) return job
    // Where this comes too late, a worker took the job or put it back in between: then the other of the two is right.
    if (job.state === 'queued') {
      const ending = cancelledEnding({ job, attempts: job.attempts, credentials: new Set() })
      await jobs.finish({ id, fence: job.fence }, 'queued', job, ending)
    } else if (await jobs.askToCancel(id)) return job
  }
}
