import { hasEnded, type Job } from '../jobs/job.ts'
import type { Gateway } from '../stages/gateway.ts'

/**
 * Wait for the end of a job. Resolves with the job, or with undefined when the signal comes first. Calls
 * `onChange` with the job as it is now and after each change, its end included; the same state may come
 * twice.
 */
export function followJob(
  gateway: Pick<Gateway, 'jobWatch'>,
  id: string,
  signal: AbortSignal,
  onChange?: (job: Job) => void,
): Promise<Job | undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined)
    const end = (job: Job | undefined) => {
      unwatch()
      signal.removeEventListener('abort', onAbort)
      resolve(job)
    }
    const onAbort = () => end(undefined)
    signal.addEventListener('abort', onAbort)
    const unwatch = gateway.jobWatch.watch(id, (job) => {
      onChange?.(job)
      if (hasEnded(job)) end(job)
    })
  })
}
