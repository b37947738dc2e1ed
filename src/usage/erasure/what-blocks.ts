import { type Obstacles, obstaclesTo } from './erasure-queries.ts'
import type { Work } from './work.ts'

/** Whether a job can make its final passes. */
export interface Readiness {
  /** Undefined if everything that has to be erased is in Postgres. */
  waitsFor: string | undefined
  /** Requests that arrived before this moment will not write any more data. */
  settledBefore: Date
  lost: readonly string[]
}

/**
 * Checks that all data of the requests in the job's time range is in Postgres: they have ended, and their
 * processes have shipped their journals or other processes have adopted them. Without the end user's name,
 * which is deleted with the job, late rows could not be found.
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
  if (openUntil !== null) return `requests that may still be running until ${openUntil.toISOString()}`
  if (jobs > 0) return `${jobs} jobs of the tenant that have not ended`
  if (silent.length > 0)
    return `the journals of silent processes, which another process will adopt: ${silent.join(', ')}`
  if (what === 'rows' && uncounted > 0) return `the usage sums, which do not include ${uncounted} days yet`
  return undefined
}

/** Describes the places that the job cannot reach, for its report. */
export function outOfReach(
  { job, storage }: Pick<Work, 'job' | 'storage'>,
  { lost }: Pick<Readiness, 'lost'>,
): string[] {
  return [
    'Backups of Postgres, the archive and images: they contain the data until they expire.',
    'Upstream vendors, proxies and webhook receivers: ask each of them to delete the data.',
    'Logs of gateway processes.',
    'If the archive is in a bucket: copies of archived files in local caches, which are deleted after a day without use.',
    'Journals on local disks: shipped segments are deleted after JOURNAL_KEEP_MS, but frames that were set aside remain until an operator deletes them.',
    ...(storage.isShared
      ? []
      : ['Images on the disks of other machines, which are deleted after IMAGE_RETENTION_HOURS.']),
    ...(job.end_user === null
      ? []
      : [
          'The record of which channels hold answers to the end user: it names only tenants, and is deleted with the bodies.',
        ]),
    ...lost.map((id) => `The journal of process ${id}, which is lost.`),
  ]
}
