import { causeOf } from '../../canonical/error.ts'
import type { Database } from '../../db/database.ts'
import { repeatedly } from '../../runtime/repeatedly.ts'
import type { Log } from '../../telemetry/log.ts'
import { sweepAttempts, sweptMax } from './attempts-queries.ts'

const pauseMs = 60_000

/** Delete counters of attempts whose window has ended, every minute. Any number of processes may run it. */
export function keepAttempts({ upkeep }: Pick<Database, 'upkeep'>, log: Log): { stop(): Promise<void> } {
  const sweep = async () => {
    while ((await upkeep.ask(({ db }) => sweepAttempts(db))) === sweptMax);
  }
  return repeatedly(sweep, {
    pauseMs,
    unref: true,
    onFailure: (error) =>
      log.info({}, `sign-in attempts: cannot delete ended ones: ${String(causeOf(error))}`),
  })
}
