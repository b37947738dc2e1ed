import type { Request, Response } from 'express'
import type { Gateway } from '../pipeline/gateway.ts'
import type { Ledger } from '../shipping/ledger.ts'
import type { LedgerStatus, LedgerWatch } from '../shipping/ledger-watch.ts'

/**
 * `GET /healthz` and `/health`, the default of some load balancers and test tools: 200 while the process
 * runs.
 */
export function health() {
  return (_request: Request, response: Response): void => {
    response.json({ status: 'ok' })
  }
}

/**
 * `GET /readyz`: 200 while this process accepts work. 503 while it is shutting down or draining, cannot write
 * its journal or soon will not be able to, or is the only one that lags (Postgres accepts rows from other
 * processes but not from this one). A process without Postgres is ready, because it still serves and records
 * requests. The check never queries Postgres: everything that it reports is in memory.
 */
export function ready(gateway: Gateway & { ledger: Ledger; ledgerWatch: LedgerWatch }) {
  const { ledger, ledgerWatch, limits, bodyThreads } = gateway
  return (_request: Request, response: Response): void => {
    const { journalBytes, postgresAway, trouble, lateCommits } = ledger.health()
    const { status, unshipped, journals, adoption, setAside } = ledgerWatch.state()
    const { mode, localDecisions } = limits.state()
    const { threads, waiting, done } = bodyThreads.state()
    const isBroken = trouble !== undefined
    const ending = gateway.draining ? 'draining' : gateway.leaving ? 'leaving' : undefined
    response.status(ending !== undefined || isBroken ? 503 : codes[status]).json({
      status: ending ?? (isBroken ? 'journal_unwritable' : statuses[status]),
      postgres: postgresAway === undefined ? 'reached' : 'away',
      journal_bytes: journalBytes,
      late_commits: lateCommits,
      answers_dropped: ledger.answers.dropped,
      unshipped_rows: unshipped.rows,
      unshipped_oldest_ms: unshipped.oldestMs,
      journals: journals.length,
      adopting: adoption.current !== undefined,
      frames_set_aside: setAside.length,
      limits: mode,
      limits_decided_locally: localDecisions,
      body_threads: threads,
      body_threads_waiting: waiting,
      body_threads_done: done,
    })
  }
}

const codes: Record<LedgerStatus, 200 | 503> = { ready: 200, degraded: 200, lagging: 503, near_bound: 503 }
const statuses: Record<LedgerStatus, string> = {
  ready: 'ready',
  degraded: 'degraded',
  lagging: 'lagging',
  near_bound: 'journal_near_bound',
}
