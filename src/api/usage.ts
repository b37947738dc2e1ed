import type { Request, Response } from 'express'
import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { findRequest, listRequests, type Scope, summariseRequests } from '../ledger/queries.ts'
import { detailJson, requestJson, summaryJson } from './usage-json.ts'
import { cursorFor, listParameters, refuseParameters, summaryParameters } from './usage-parameters.ts'

export interface UsageContext {
  database: Pick<Database, 'reads'>
  /** Throws, or rejects with, GatewayError. */
  authenticate(request: Request): Identity | Promise<Identity>
  /** Bring the caller's own last requests into the log; bounded, and never rejects. */
  shipNow(): Promise<unknown>
  /** Milliseconds since the epoch. */
  now?(): number
}

/**
 * The usage log for the key that asks: its tenant's rows, or only its own where the key says so.
 * Handlers throw GatewayError: `invalid_request` naming the parameter, `unknown_path` for a request that is not there,
 * `unavailable` while Postgres is away.
 */
export function usageRoutes({ database, authenticate, shipNow, now = Date.now }: UsageContext) {
  async function scopeOf(request: Request): Promise<Scope> {
    const identity = await authenticate(request)
    return { tenantId: identity.tenantId, keyId: identity.usageScope === 'key' ? identity.keyId : null }
  }

  return {
    /** `GET /v1/usage/requests`: newest first, `{ data, next_cursor }`. */
    async list(request: Request, response: Response): Promise<void> {
      const scope = await scopeOf(request)
      const { filter, after, limit } = listParameters(request.query)
      await shipNow()
      const rows = await database.reads.ask(
        ({ sql }) => listRequests(sql, scope, filter, after, limit + 1),
        away,
      )
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      response.json({
        data: page.map(requestJson),
        next_cursor: rows.length > limit && last !== undefined ? cursorFor(last) : null,
      })
    },

    /** `GET /v1/usage/requests/:id`: the row with its redacted body, attempts and cost parts. */
    async detail(request: Request, response: Response): Promise<void> {
      const scope = await scopeOf(request)
      refuseParameters(request.query)
      const id = String(request.params.id).toLowerCase()
      const found = uuid.test(id)
        ? await shipNow().then(() => database.reads.ask(({ sql }) => findRequest(sql, scope, id), away))
        : undefined
      if (found === undefined) {
        throw new GatewayError('unknown_path', 'The usage log has no such request for this key.')
      }
      response.json(detailJson(found))
    },

    /** `GET /v1/usage/summary`: totals by day and model, newest day first, `{ data }`. */
    async summary(request: Request, response: Response): Promise<void> {
      const scope = await scopeOf(request)
      const filter = summaryParameters(request.query, now())
      await shipNow()
      const rows = await database.reads.ask(({ sql }) => summariseRequests(sql, scope, filter), away)
      response.json({
        from: filter.from.toISOString(),
        to: filter.to.toISOString(),
        data: rows.map(summaryJson),
      })
    },
  }
}

const away = {
  unavailable: 'The usage log cannot be read just now. Nothing is lost: try again.',
  retryAfterSeconds: 5,
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
