import { hasEnded, type Job } from '../jobs/job.ts'
import type { Gateway } from '../pipeline/gateway.ts'

/**
 * Waits for a job to end. Resolves with the job, or with undefined if the signal aborts first. Calls
 * `onChange` with the current job and then after every change, including the last one; it can be called twice
 * with the same state.
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
