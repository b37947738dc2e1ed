import type { Request, Response } from 'express'
import type { Gateway } from '../stages/gateway.ts'

/** `GET /healthz`: 200 while the process runs. */
export function health() {
  return (_request: Request, response: Response): void => {
    response.json({ status: 'ok' })
  }
}

/**
 * `GET /readyz`: 200 while this process takes work, 503 while it drains or cannot write its journal. A process without
 * Postgres is ready, because it still serves and records requests. The body says that Postgres is away, whether all
 * processes count limits together, and how busy the threads for large bodies are.
 */
export function ready(gateway: Gateway) {
  return (_request: Request, response: Response): void => {
    const { journalBytes, postgresAway, trouble } = gateway.ledger.health()
    const { mode, localDecisions } = gateway.limits.state()
    const { threads, waiting, done } = gateway.bodyThreads.state()
    response.status(gateway.draining || trouble !== undefined ? 503 : 200).json({
      status: gateway.draining ? 'draining' : trouble !== undefined ? 'journal_unwritable' : 'ready',
      postgres: postgresAway === undefined ? 'reached' : 'away',
      journal_bytes: journalBytes,
      limits: mode,
      limits_decided_locally: localDecisions,
      body_threads: threads,
      body_threads_waiting: waiting,
      body_threads_done: done,
    })
  }
}
