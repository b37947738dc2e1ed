import { deleteOldAlerts, listDueMessages } from '../src/alerts/episode-queries.ts'
import { evaluateRules } from '../src/alerts/evaluate.ts'
import type { JobQueue } from '../src/jobs/queue/queue.ts'
import type { Context } from '../src/process/context.ts'
import { redactText } from '../src/redaction/redact.ts'
import { repeatedly } from '../src/runtime/repeatedly.ts'
import { queueIdOf } from './deliver-alert.ts'

const upkeepEveryMs = 3_600_000
/** Less than the interval between sweeps, so that a lone process makes every sweep. */
const apart = 0.75
const within = { withinMs: 10_000 }

/**
 * Evaluates alert rules, queues their messages, and deletes old episodes. It can run in any number of
 * processes, but only one of them sweeps at a time.
 */
export function keepAlerts(context: Context, alerts: Pick<JobQueue, 'add'>): { stop(): Promise<void> } {
  const { bounds, database, jobs, log } = context
  let nextUpkeepMs = 0
  const work = async () => {
    if (!(await jobs.claimSweep('alerts', Math.floor(bounds.alertMs * apart)))) return
    await evaluateRules(context)
    // This includes messages of a process that died before it could queue them.
    const due = await database.jobs.ask(({ db }) => listDueMessages(db), within)
    if (due.length > 0) await alerts.add(due.map((key) => ({ id: queueIdOf(key), priority: 0 })))
    if (performance.now() < nextUpkeepMs) return
    nextUpkeepMs = performance.now() + upkeepEveryMs
    if (await jobs.claimSweep('old_alerts', upkeepEveryMs * apart))
      await database.upkeep.ask(({ db }) => deleteOldAlerts(db, bounds.alertEpisodeDays), within)
  }
  return repeatedly(work, {
    pauseMs: bounds.alertMs,
    onFailure: (error) => log.warn({ cause: redactText(String(error)) }, 'alerts could not be evaluated'),
  })
}
