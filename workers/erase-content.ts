import type { Sql } from 'postgres'
import type { Context } from '../src/process/context.ts'
import { redactText } from '../src/redaction/redact.ts'
import { repeatedly } from '../src/runtime/repeatedly.ts'
import { archiverOf, rowDaysOf } from '../src/usage/archive/open-archive.ts'
import { removeArchived } from '../src/usage/archive/remove-archived.ts'
import { sweepArchive } from '../src/usage/erasure/archived-retention.ts'
import { type RetentionPlan, sweepTenants } from '../src/usage/erasure/retention.ts'
import { runErasure } from '../src/usage/erasure/run-erasure.ts'
import type { RemoveArchived } from '../src/usage/erasure/work.ts'

const lookEveryMs = 5_000
const hourMs = 3_600_000
/** Less than the interval between sweeps, so that a lone process makes every sweep. */
const apart = 0.75
/** A transaction of this many rows takes a few milliseconds, and keeps the work for vacuum small. */
const batchRows = 500
const leaseMs = 60_000
const waitMs = 10_000
const statementMs = 60_000
/** One process rewrites the files of this many days, which may take a few minutes. */
const archivedDaysAtOnce = 8
const archiveRetryMs = 60_000

/**
 * Carries out the erasures requested by admins, and deletes the content of tenants with shorter retention. It
 * can run in any number of processes, but only one of them works at a time.
 */
export function eraseContent(context: Context): { stop(): Promise<void> } {
  const { bounds, database, files, images, jobs, ledger, log } = context
  const stopping = new AbortController()
  let nextSweepMs = 0
  /** When to sweep the archive; undefined if there is no need. */
  let sweepArchiveMs: number | undefined
  const archive = archiveOf(context)
  const needs = {
    database,
    storage: images.storage,
    files: files.storage,
    archive,
    shipAll: () => ledger.shipAll(),
    settleMs: bounds.upstreamTotalMs + bounds.instanceDeadMs,
    silentMs: bounds.instanceDeadMs,
    batchRows,
    leaseMs,
    waitMs,
  }
  const ask = <T>(query: (sql: Sql) => PromiseLike<T>) =>
    database.jobs.ask(({ sql }) => query(sql), { withinMs: statementMs, signal: stopping.signal })
  const work = async () => {
    const { signal } = stopping
    while (!signal.aborted && (await runErasure(needs, signal)));
    if (!signal.aborted && performance.now() >= nextSweepMs) {
      nextSweepMs = performance.now() + hourMs
      if (await jobs.claimSweep('tenant_retention', hourMs * apart)) {
        const gone = await sweepTenants(ask, daysOf(context), { batchRows, signal })
        if (gone > 0)
          log.info(
            {},
            `usage log: ${gone} rows, bodies and answers deleted for tenants with a shorter retention`,
          )
        sweepArchiveMs = performance.now()
      }
    }
    if (signal.aborted || sweepArchiveMs === undefined || performance.now() < sweepArchiveMs) return
    sweepArchiveMs = performance.now() + archiveRetryMs
    const { gone, isBusy } = await sweepArchive(ask, archive, { daysAtOnce: archivedDaysAtOnce, signal })
    if (gone > 0)
      log.info({}, `archive: ${gone} rows, bodies and answers deleted for tenants with a shorter retention`)
    if (!isBusy) sweepArchiveMs = undefined
  }
  const repetition = repeatedly(work, {
    pauseMs: lookEveryMs,
    onFailure: (error) => log.warn({ cause: redactText(String(error)) }, 'content could not be erased'),
  })
  return {
    /**
     * Does not wait for running statements, because waiting for a lock or on a dead connection may take
     * longer than the process has left.
     */
    async stop() {
      stopping.abort()
      await repetition.stop()
    },
  }
}

/**
 * The retention that applies to everyone. With an archive, rows are kept as long as either of the two keeps
 * them.
 */
function daysOf({ config }: Context): RetentionPlan {
  const { payloadRetentionDays, answerRetentionDays } = config.bounds
  const requestRetentionDays = Math.max(rowDaysOf(config.bounds), archiverOf(config, '').rowDays)
  return { requestRetentionDays, payloadRetentionDays, answerRetentionDays }
}

/** Does no work if nothing is archived. */
function archiveOf({ config, database, databaseUrl }: Context): RemoveArchived {
  return async (days, removals, signal) => {
    const archived = await database.jobs.ask(({ sql }) => sql`SELECT 1 FROM archived_days LIMIT 1`)
    if (archived.length === 0) return {}
    const report = await removeArchived(archiverOf(config, databaseUrl), days, removals, signal)
    return report === null ? null : { ...report }
  }
}
