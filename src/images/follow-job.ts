import type { ImageGateway } from './image-gateway.ts'
import type { ImageJob } from './jobs/job.ts'

export function hasEnded({ state }: Pick<ImageJob, 'state'>): boolean {
  return state !== 'queued' && state !== 'running'
}

/**
 * Wait for the end of a job. Resolves with it, or with undefined when the signal comes first. `onChange` hears of the job
 * as it is now and of each change, the end included; the same state may come again.
 */
export function followJob(
  gateway: Pick<ImageGateway, 'images'>,
  id: string,
  signal: AbortSignal,
  onChange?: (job: ImageJob) => void,
): Promise<ImageJob | undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined)
    const end = (job: ImageJob | undefined) => {
      unwatch()
      signal.removeEventListener('abort', onAbort)
      resolve(job)
    }
    const onAbort = () => end(undefined)
    signal.addEventListener('abort', onAbort)
    const unwatch = gateway.images.watch.watch(id, (job) => {
      onChange?.(job)
      if (hasEnded(job)) end(job)
    })
  })
}
