import type { JobQueue } from '../src/jobs/queue/queue.ts'
import type { Context } from '../src/process/context.ts'
import { redactText } from '../src/redaction/redact.ts'
import { repeatedly } from '../src/runtime/repeatedly.ts'
import { enqueue } from './generate-image.ts'

const hourMs = 3_600_000
/** Retention deletes whole days, so running it more often would not help. */
const removeEveryMs = hourMs
/** Less than the interval between sweeps, so that a lone process makes every sweep. */
const apart = 0.75

/**
 * Queues jobs and webhooks that the queues have lost or never received, and deletes jobs and images at the
 * end of their retention. It can run in any number of processes, but only one of them sweeps at a time.
 */
export function keepJobs(context: Context, webhooks: Pick<JobQueue, 'add'>): { stop(): Promise<void> } {
  const { bounds, jobs, images, log } = context
  let nextRemovalMs = 0
  const sweep = async () => {
    // A recently queued job is still on its way, so only a job that has waited longer may be lost.
    enqueue(context, await jobs.sweep(bounds.imageSweepMs))
    const due = await jobs.dueWebhooks()
    if (due.length > 0) await webhooks.add(due.map((id) => ({ id, priority: 0 })))
  }
  const work = async () => {
    if (await jobs.claimSweep('jobs', Math.floor(bounds.imageSweepMs * apart))) await sweep()
    if (performance.now() < nextRemovalMs) return
    nextRemovalMs = performance.now() + removeEveryMs
    // Uses the time of Postgres, because a wrong clock on this machine must not delete images.
    const nowMs = (await jobs.now()).getTime()
    if (await jobs.claimSweep('old_jobs', removeEveryMs * apart)) await removeJobs(jobs, bounds, nowMs)
    if (!images.storage.isShared || (await jobs.claimSweep('stored_images', removeEveryMs * apart)))
      await images.storage.removeBefore(new Date(nowMs - bounds.imageRetentionHours * hourMs))
  }
  return repeatedly(work, {
    pauseMs: bounds.imageSweepMs,
    onFailure: (error) => log.warn({ cause: redactText(String(error)) }, 'jobs could not be swept'),
  })
}

async function removeJobs(
  jobs: Context['jobs'],
  { requestRetentionDays, backgroundEventHours }: Context['bounds'],
  nowMs: number,
): Promise<void> {
  await jobs.removeBefore('image', new Date(nowMs - requestRetentionDays * 24 * hourMs))
  await jobs.removeBefore('answer', new Date(nowMs - backgroundEventHours * hourMs))
}
