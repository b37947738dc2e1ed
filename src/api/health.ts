import type { Request, Response } from 'express'
import type { Gateway } from '../stages/gateway.ts'

/** `GET /healthz`: the process runs. */
export function health() {
  return (_request: Request, response: Response): void => {
    response.json({ status: 'ok' })
  }
}

/**
 * `GET /readyz`: 200 while this process takes work, 503 while it drains. Postgres being away does not make it
 * unready, since requests are still served and recorded; the body says so, and whether limits are counted together.
 */
export function ready(gateway: Gateway) {
  return (_request: Request, response: Response): void => {
    const { journalBytes, postgresAway, trouble } = gateway.ledger.health()
    const { mode, localDecisions } = gateway.limits.state()
    response.status(gateway.draining || trouble !== undefined ? 503 : 200).json({
      status: gateway.draining ? 'draining' : trouble !== undefined ? 'journal_unwritable' : 'ready',
      postgres: postgresAway === undefined ? 'reached' : 'away',
      journal_bytes: journalBytes,
      limits: mode,
      limits_decided_locally: localDecisions,
    })
  }
}
