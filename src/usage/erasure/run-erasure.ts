import type { Sql } from 'postgres'
import { causeOf } from '../../canonical/error.ts'
import { redactText } from '../../redaction/redact.ts'
import { countSubject } from './count-subject.ts'
import {
  addCounts,
  claimErasure,
  endErasure,
  noteErasure,
  readErasure,
  subjectOf,
} from './erasure-queries.ts'
import { removeImagesOf, removeLeftovers } from './other-places.ts'
import { eraseBatch, nextBatch, partitionsOf, type RowPosition, type Subject } from './row-batch.ts'
import { outOfReach, type Readiness, readinessOf } from './what-blocks.ts'
import type { ErasureNeeds, Work } from './work.ts'

/**
 * Works on one job until it ends or has to wait. False if there was no job. If the process is killed, each
 * batch is either done or not done, and after the lease has ended the next call continues with the next
 * batch. Once `signal` aborts, no statement is awaited. Rejects only if claiming a job fails.
 */
export async function runErasure(needs: ErasureNeeds, signal?: AbortSignal): Promise<boolean> {
  const ask = <T>(query: (sql: Sql) => PromiseLike<T>) =>
    needs.database.jobs.ask(({ sql }) => query(sql), {
      withinMs: batchMs,
      ...(signal === undefined ? {} : { signal }),
    })
  const job = await ask((sql) => claimErasure(sql, needs.leaseMs))
  if (job === undefined) return false
  const work: Work = { ...needs, job, ask, signal }
  try {
    if (job.dry_run) await count(work)
    else await erase(work)
  } catch (error) {
    // The next process, or this one after a restart, continues when the lease has ended.
    if (error instanceof Stopped || signal?.aborted === true) return true
    const cause = causeOf(error)
    const message = redactText(cause instanceof Error ? cause.message : String(cause), [], 1_000).slice(
      0,
      1_000,
    )
    await note(work, { state: 'waiting', leaseMs: needs.waitMs, error: message }).catch(() => {})
  }
  return true
}

const batchMs = 60_000

/** The job was cancelled, another process has claimed it, or this process is stopping. */
class Stopped extends Error {}

async function note(work: Work, change: Parameters<typeof noteErasure>[2]): Promise<void> {
  if (work.signal?.aborted === true || !(await work.ask((sql) => noteErasure(sql, work.job, change))))
    throw new Stopped()
}

/** Performs a dry run. */
async function count(work: Work): Promise<void> {
  const { ask, job, leaseMs } = work
  const counts = await countSubject(ask, subjectOf(job), work.batchRows, () =>
    note(work, { state: 'running', leaseMs }),
  )
  await ask((sql) => addCounts(sql, job, counts))
  await ask((sql) => endErasure(sql, job, []))
}

async function erase(work: Work): Promise<void> {
  const { ask, job, leaseMs, waitMs } = work
  const readiness = await readinessOf(work)
  if (readiness.waitsFor !== undefined) {
    // Data that is old enough is removed without waiting.
    if (job.state === 'running') await pass(work, { ...subjectOf(job), to: readiness.settledBefore })
    const pass_ = job.state === 'running' ? { pass: { passes: 0, countsBefore: null } } : {}
    await note(work, { state: 'waiting', leaseMs: waitMs, waitsFor: readiness.waitsFor, ...pass_ })
    return
  }
  let { passes, counts_before: before } = job
  if (job.state === 'waiting') await note(work, { state: 'running', leaseMs })
  // Passes are repeated until one finds nothing, because rows may have arrived, or moved to a partition of
  // their own, after the previous pass.
  for (;;) {
    await pass(work, subjectOf(job))
    const counts = (await ask((sql) => readErasure(sql, job.id)))?.counts ?? {}
    if (before !== null && sumOf(counts) === sumOf(before)) break
    passes += 1
    before = counts
    Object.assign(job, { place_table: null, place_at: null, place_id: null })
    await note(work, { state: 'running', leaseMs, pass: { passes, countsBefore: counts } })
  }
  await eraseArchived(work, readiness)
}

async function eraseArchived(work: Work, readiness: Readiness): Promise<void> {
  const { ask, job, archive, leaseMs, waitMs } = work
  if (archive !== undefined) {
    // The archive can take long, so the lease is renewed in the meantime.
    const renewal = setInterval(() => {
      note(work, { state: 'running', leaseMs }).catch(() => {})
    }, leaseMs / 3)
    const { tenantId, ...of } = subjectOf(job)
    const days = { from: dayOf(of.from ?? new Date(0)), to: dayOf(of.to) }
    const removal = { ...of, what: job.what, tenantIds: [tenantId] }
    const counts = await archive(days, [removal], work.signal).finally(() => clearInterval(renewal))
    if (counts === null) {
      await note(work, { state: 'waiting', leaseMs: waitMs, waitsFor: 'the archive, which is busy' })
      return
    }
    const named = Object.entries(counts).map(([name, value]) => [`archive_${name}`, value])
    await ask((sql) => addCounts(sql, job, Object.fromEntries(named)))
  }
  await ask((sql) => endErasure(sql, job, outOfReach(work, readiness)))
}

/** Processes every row of the subject once, in bounded steps, from where the last process stopped. */
async function pass(work: Work, subject: Subject): Promise<void> {
  const { ask, job, storage, batchRows } = work
  const tables = await ask((sql) => partitionsOf(sql, subject))
  const { place_table, place_at, place_id } = job
  for (const table of tables) {
    if (place_table !== null && table < place_table) continue
    let after: RowPosition | undefined =
      table === place_table && place_at !== null && place_id !== null
        ? { at: place_at, id: place_id }
        : undefined
    for (;;) {
      if (work.signal?.aborted === true) throw new Stopped()
      const batch = await ask((sql) => nextBatch(sql, table, subject, { after, most: batchRows }))
      if (batch === undefined) break
      const images = await ask((sql) => removeImagesOf(sql, storage, batch))
      const counted = { id: job.id, fence: Number(job.fence), leaseMs: work.leaseMs, images }
      if ((await ask((sql) => eraseBatch(sql, batch, job.what, counted))) === undefined) throw new Stopped()
      after = { at: batch.last, id: batch.ids.at(-1) ?? '' }
    }
  }
  await removeLeftovers(work, subject, async (counts) => {
    await ask((sql) => addCounts(sql, job, counts))
    await note(work, { state: 'running', leaseMs: work.leaseMs })
  })
}

function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10)
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
