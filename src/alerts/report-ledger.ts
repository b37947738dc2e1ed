import { hostname } from 'node:os'
import type { Database } from '../db/database.ts'
import { repeatedly } from '../runtime/repeatedly.ts'
import type { LedgerState } from '../shipping/ledger-watch.ts'

export interface LedgerReporter {
  database: Pick<Database, 'state'>
  /** The id of this process, which may change. */
  instanceId(): string
  state(): LedgerState
  alertMs: number
}

/** Reports the ledger of this process while a rule watches it. The timer does not keep the process alive. */
export function reportLedger({ database, instanceId, state, alertMs }: LedgerReporter): { stop(): void } {
  const report = () => {
    const { unshipped, setAside } = state()
    return database.state.ask(
      ({ sql }) => sql`
          INSERT INTO ledger_reports AS r (instance_id, host, pid, oldest_ms, set_aside, reported_at)
          SELECT ${instanceId()}::uuid, ${hostname()}, ${process.pid}::integer, ${Math.min(unshipped.oldestMs, 2 ** 31 - 1)}::integer,
            ${setAside.length}::integer, now()
          WHERE EXISTS (SELECT 1 FROM alert_rules WHERE kind = 'ledger_lag' AND enabled AND deleted_at IS NULL)
          ON CONFLICT (instance_id) DO UPDATE SET host = excluded.host, pid = excluded.pid, oldest_ms = excluded.oldest_ms,
            set_aside = excluded.set_aside, reported_at = excluded.reported_at`,
    )
  }
  // Failures are not logged, because the next report follows soon, and while Postgres is down the watch of
  // the ledger raises its own alarm.
  return repeatedly(report, { pauseMs: alertMs, unref: true })
}
