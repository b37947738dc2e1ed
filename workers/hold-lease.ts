import type { Lease } from '../src/jobs/job.ts'
import type { Jobs } from '../src/jobs/jobs.ts'
import type { JobWatch } from '../src/jobs/watch.ts'

/**
 * Extends the lease of a job while it runs. Reports when another worker has claimed the job and when its
 * client has cancelled it; each may be reported more than once.
 */
export function holdLease(
  { jobs, jobWatch }: { jobs: Pick<Jobs, 'extend'>; jobWatch: JobWatch },
  lease: Lease,
  leaseMs: number,
  listener: { lost(): void; cancelled(): void },
): { stop(): void } {
  const extend = async () => {
    const verdict = await jobs.extend(lease).catch(() => 'held' as const)
    if (verdict === 'lost') listener.lost()
    if (verdict === 'cancel') listener.cancelled()
  }
  const timer = setInterval(() => void extend(), leaseMs / 3)
  const unwatch = jobWatch.watch(lease.id, (job) => {
    // A row with an older fence was read before we claimed the job. A newer fence means that another worker
    // has claimed it.
    if (job.fence > lease.fence) listener.lost()
    else if (job.cancelRequested) listener.cancelled()
  })
  return {
    stop() {
      clearInterval(timer)
      unwatch()
    },
  }
}
