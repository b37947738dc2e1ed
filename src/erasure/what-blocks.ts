import { type Obstacles, obstaclesTo } from './erasure-queries.ts'
import type { Work } from './work.ts'

/** Whether a job may make its last passes. */
export interface Readiness {
  /** Undefined: all that it is to erase is in Postgres. */
  waitsFor: string | undefined
  /** Requests that arrived before this moment leave no more data. */
  settledBefore: Date
  lost: readonly string[]
}

/**
 * All that a request of the job's time leaves must be in Postgres: it has ended, its process has shipped its
 * journal, or another one has adopted that. Without the name of the end user, a row could not be found again
 * when its answer comes late.
 */
export async function readinessOf(
  work: Pick<Work, 'ask' | 'job' | 'settleMs' | 'silentMs' | 'shipAll'>,
): Promise<Readiness> {
  const { ask, job, settleMs, silentMs } = work
  const obstacles = await ask((sql) => obstaclesTo(sql, job, { settleMs, silentMs }))
  const settledBefore = new Date(Math.min(job.to_at.getTime(), obstacles.now.getTime() - settleMs))
  const waitsFor =
    wordsFor(obstacles, job.what) ??
    ((await work.shipAll()) ? undefined : 'a process that has not shipped its journal')
  return { waitsFor, settledBefore, lost: obstacles.lost }
}

function wordsFor({ openUntil, jobs, uncounted, silent }: Obstacles, what: string): string | undefined {
  if (openUntil !== null) return `requests that may still run, until ${openUntil.toISOString()}`
  if (jobs > 0) return `${jobs} jobs of the tenant that have not ended`
  if (silent.length > 0)
    return `the journals of silent processes, which another process will adopt: ${silent.join(', ')}`
  if (what === 'rows' && uncounted > 0) return `the sums: ${uncounted} days wait to be counted`
  return undefined
}

/** What the report says about places that no job reaches. */
export function outOfReach(
  { job, storage }: Pick<Work, 'job' | 'storage'>,
  { lost }: Pick<Readiness, 'lost'>,
): string[] {
  return [
    'Backups of Postgres, of the archive and of images: they hold it until they expire.',
    'Upstream vendors, proxies and receivers of webhooks: ask each of them.',
    'Logs of processes.',
    'Copies of archived files in the caches of processes, where the archive is in a bucket: they go after a day without use.',
    'Journals on the disks of processes: shipped segments go after JOURNAL_KEEP_MS; frames that were set aside stay until an operator deletes them.',
    ...(storage.isShared
      ? []
      : ['Images on the disks of other machines: they go after IMAGE_RETENTION_HOURS.']),
    ...(job.end_user === null
      ? []
      : [
          'Which channels hold the answers of the end user: the list names tenants only, and goes with the bodies.',
        ]),
    ...lost.map((id) => `The journal of process ${id}, which is lost.`),
  ]
}
