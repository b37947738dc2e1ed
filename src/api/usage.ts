import type { Request, Response } from 'express'
import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { inTime } from '../db/in-time.ts'
import { findRequest, listRequests, type Scope, summariseRequests } from '../ledger/queries.ts'
import { detailJson, requestJson, summaryJson } from './usage-json.ts'
import { cursorFor, listParameters, refuseParameters, summaryParameters } from './usage-parameters.ts'

export interface UsageContext {
  database: Pick<Database, 'sql' | 'renew'>
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

  async function read<T>(query: Promise<T>): Promise<T> {
    try {
      return await inTime(query, answerMs)
    } catch (cause) {
      if (isOwnFault(cause)) throw cause
      database.renew()
      throw new GatewayError(
        'unavailable',
        'The usage log cannot be read just now. Nothing is lost: try again.',
        {
          cause,
          retryAfterSeconds: 5,
        },
      )
    }
  }

  return {
    /** `GET /v1/usage/requests`: newest first, `{ data, next_cursor }`. */
    async list(request: Request, response: Response): Promise<void> {
      const scope = await scopeOf(request)
      const { filter, after, limit } = listParameters(request.query)
      await shipNow()
      const rows = await read(listRequests(database.sql, scope, filter, after, limit + 1))
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
        ? await shipNow().then(() => read(findRequest(database.sql, scope, id)))
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
      const rows = await read(summariseRequests(database.sql, scope, filter))
      response.json({
        from: filter.from.toISOString(),
        to: filter.to.toISOString(),
        data: rows.map(summaryJson),
      })
    },
  }
}

/** A sum over some millions of rows takes as long. A Postgres that is away is found out much sooner, by others. */
const answerMs = 20_000

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A statement that Postgres refused, other than for a shutdown (57) or want of resources (53). */
function isOwnFault(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'PostgresError') return false
  return !('code' in error && /^5[37]/.test(String(error.code)))
}
