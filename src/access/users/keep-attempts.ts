import { causeOf } from '../../canonical/error.ts'
import type { Database } from '../../db/database.ts'
import { repeatedly } from '../../runtime/repeatedly.ts'
import type { Log } from '../../telemetry/log.ts'
import { sweepAttempts, sweptMax } from './attempts-queries.ts'

const pauseMs = 60_000

/**
 * Deletes counters of attempts whose window has ended, every minute. Several processes can run this at once.
 */
export function keepAttempts({ upkeep }: Pick<Database, 'upkeep'>, log: Log): { stop(): Promise<void> } {
  const sweep = async () => {
    while ((await upkeep.ask(({ db }) => sweepAttempts(db))) === sweptMax);
  }
  return repeatedly(sweep, {
    pauseMs,
    unref: true,
    onFailure: (error) =>
      log.info({}, `cannot delete expired counters of sign-in attempts: ${String(causeOf(error))}`),
  })
}
