import { randomUUIDv7 } from 'node:crypto'
import type { JobQueue } from '../src/jobs/queue/queue.ts'
import { probedProtocols } from '../src/probes/probed-offer.ts'
import { addRuns, deleteRunsBefore, newestRuns, placeOf, waitingRuns } from '../src/probes/queries.ts'
import type { Context } from '../src/process/context.ts'
import { redactText } from '../src/redaction/redact.ts'
import { repeatedly } from '../src/runtime/repeatedly.ts'

const hourMs = 3_600_000
/**
 * A run that the queue should have started by now. Adding it again has no effect if the queue still has it.
 */
const lostMs = 60_000
/** Less than the interval between sweeps, so that a lone process makes every sweep. */
const apart = 0.75
const within = { withinMs: 10_000 }

/**
 * Queues probe runs that the queue has lost, creates those that the schedule requires, and deletes old ones.
 * It can run in any number of processes, but only one of them sweeps at a time.
 */
export function keepProbes(context: Context, probes: Pick<JobQueue, 'add'>): { stop(): Promise<void> } {
  const { bounds, database, jobs, log } = context
  const work = async () => {
    if (!(await jobs.claimSweep('probes', Math.floor(bounds.probeSweepMs * apart)))) return
    const asked = bounds.probeIntervalHours > 0 ? await askForDue(context) : []
    const lost = await database.jobs.ask(({ db }) => waitingRuns(db, lostMs), within)
    await probes.add([...asked, ...lost].map((id) => ({ id, priority: 0 })))
    await database.jobs.ask(({ db }) => deleteRunsBefore(db, daysKept(bounds)), within)
  }
  return repeatedly(work, {
    pauseMs: bounds.probeSweepMs,
    onFailure: (error) => log.warn({ cause: redactText(String(error)) }, 'probes could not be swept'),
  })
}

/** The schedule needs the newest run of an offer until the next one is due. */
function daysKept({ requestRetentionDays, probeIntervalHours }: Context['bounds']): number {
  return Math.max(requestRetentionDays, Math.ceil(probeIntervalHours / 24))
}

/**
 * Creates runs for the offers of named models that were not probed within the interval, and returns the ids
 * of the runs.
 */
async function askForDue({ catalog, bounds, database }: Context): Promise<string[]> {
  const newest = await database.jobs.ask(({ db }) => newestRuns(db), within)
  const dueBefore = Date.now() - bounds.probeIntervalHours * hourMs
  const models = new Set(catalog.snapshot.models.values())
  const due = [...models].flatMap((model) =>
    model.offers.flatMap(({ channel, upstreamModel }) =>
      probedProtocols(channel).flatMap((protocol) => {
        const last = newest.get(placeOf({ channelId: channel.id, model: model.id, protocol }))
        if (last !== undefined && last.getTime() > dueBefore) return []
        return [{ channelId: channel.id, model: model.id, upstreamModel, protocol }]
      }),
    ),
  )
  const createdAt = new Date()
  const runs = due.map((offer) => ({
    id: randomUUIDv7(),
    ...offer,
    origin: 'schedule' as const,
    state: 'queued' as const,
    costMax: BigInt(bounds.probeMicroUsdMax) * 1000n,
    createdAt,
  }))
  await database.jobs.ask(({ db }) => addRuns(db, runs), within)
  return runs.map(({ id }) => id)
}
