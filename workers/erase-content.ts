import type { Sql } from 'postgres'
import { archiverOf } from '../src/archive/open-archive.ts'
import { startRewrite } from '../src/archive/start-archiver.ts'
import { allOf, condition } from '../src/archive/where.ts'
import type { Context } from '../src/context.ts'
import { sweepTenants } from '../src/erasure/retention.ts'
import { runErasure } from '../src/erasure/run-erasure.ts'
import type { EraseArchive } from '../src/erasure/work.ts'
import { redactText } from '../src/redaction/redact.ts'

const lookEveryMs = 5_000
const hourMs = 3_600_000
/** Less than the interval of a sweep, so that a process that is alone makes every sweep. */
const apart = 0.75
/** A transaction of so many rows takes some milliseconds, and leaves vacuum little at a time. */
const batchRows = 500
const leaseMs = 60_000
const waitMs = 10_000
const statementMs = 60_000

/**
 * Works on the erasures that admins ask for, and deletes what tenants keep for fewer days than all. Any number of processes may
 * run it: one works at a time.
 */
export function eraseContent(context: Context): { stop(): Promise<void> } {
  const { bounds, database, images, ledger, log } = context
  const stopping = new AbortController()
  let working = Promise.resolve()
  let isWorking = false
  let nextSweepMs = 0
  let complaint = ''
  const needs = {
    database,
    storage: images.storage,
    archive: archiveOf(context, stopping.signal),
    shipAll: () => ledger.shipAll(),
    settleMs: bounds.upstreamTotalMs + bounds.instanceDeadMs,
    silentMs: bounds.instanceDeadMs,
    batchRows,
    leaseMs,
    waitMs,
  }
  const work = async () => {
    while (!stopping.signal.aborted && (await runErasure(needs, stopping.signal)));
    if (stopping.signal.aborted || performance.now() < nextSweepMs) return
    nextSweepMs = performance.now() + hourMs
    if (!(await images.jobs.claimSweep('tenant_retention', hourMs * apart))) return
    const ask = <T>(question: (sql: Sql) => PromiseLike<T>) =>
      database.jobs.ask(({ sql }) => question(sql), { withinMs: statementMs, signal: stopping.signal })
    const gone = await sweepTenants(ask, bounds, { batchRows, signal: stopping.signal })
    if (gone > 0)
      log.info({}, `usage log: ${gone} rows, bodies and answers deleted for tenants with fewer days`)
  }
  const timer = setInterval(() => {
    if (isWorking) return
    isWorking = true
    working = work()
      .then(
        () => {
          complaint = ''
        },
        (error: unknown) => {
          if (stopping.signal.aborted) return
          const cause = redactText(String(error))
          if (cause !== complaint) log.warn({ cause }, 'content could not be erased')
          complaint = cause
        },
      )
      .finally(() => {
        isWorking = false
      })
  }, lookEveryMs)
  return {
    /** Waits for no statement: it may wait for a lock, or on a connection that is dead, for longer than the process may. */
    async stop() {
      clearInterval(timer)
      stopping.abort()
      await working
    },
  }
}

/** The archive loses content; rows stay there without it. Nothing is started where nothing is archived. */
function archiveOf({ config, database, databaseUrl }: Context, signal: AbortSignal): EraseArchive {
  return async ({ tenantId, endUser, from, to }) => {
    const archived = await database.jobs.ask(({ sql }) => sql`SELECT 1 FROM archived_days LIMIT 1`)
    if (archived.length === 0) return {}
    const since = from ?? new Date(0)
    const matches = allOf([
      condition('tenant_id = ? AND created_at >= ? AND created_at < ?', tenantId, since, to),
      ...(endUser === null ? [] : [condition('end_user = ?', endUser)]),
    ])
    signal.throwIfAborted()
    const rewrite = startRewrite(archiverOf(config, databaseUrl), {
      from: dayOf(since),
      to: dayOf(to),
      matches,
    })
    signal.addEventListener('abort', rewrite.stop, { once: true })
    const report = await rewrite.done.finally(() => signal.removeEventListener('abort', rewrite.stop))
    return report === null ? null : { ...report }
  }
}

function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10)
}
