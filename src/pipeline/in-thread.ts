import type { JobName, ThreadJob, ThreadJobs } from '../bodies/thread-jobs.ts'
import type { Gateway } from './gateway.ts'
import type { Identified } from './identify.ts'

/**
 * Runs a job on the large body of a request in a worker thread. Rejects with the job's error, or immediately
 * when the client leaves or the process must end.
 */
export async function inThread<Name extends JobName>(
  { bodyThreads }: Gateway,
  { identity, life }: Identified,
  job: ThreadJob<Name>,
): Promise<ThreadJobs[Name]['output']> {
  const running = bodyThreads.run<Name>(identity.keyId, job)
  life.running = {
    resume() {},
    abort(reason) {
      // A thread may still be reading the bytes, so their memory must not be reused.
      life.slabs.length = 0
      running.abort(reason)
    },
  }
  try {
    return await running.done
  } finally {
    life.running = undefined
  }
}
