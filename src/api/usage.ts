import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { inTime } from '../db/in-time.ts'
import { findRequest, listRequests, type Scope, summariseRequests } from '../ledger/queries.ts'
import type { OwnEndpoint } from './own-endpoint.ts'
import { detailJson, requestJson, summaryJson } from './usage-json.ts'
import { cursorFor, listParameters, refuseParameters, summaryParameters } from './usage-parameters.ts'

export interface UsageContext {
  database: Pick<Database, 'sql' | 'renew'>
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
export function usageEndpoints({ database, shipNow, now = Date.now }: UsageContext): OwnEndpoint[] {
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

  return [
    {
      method: 'GET',
      path: '/v1/usage/requests',
      summary: 'The usage log, newest first',
      logged: false,
      needsKey: true,
      async handle({ stage, query }) {
        const { filter, after, limit } = listParameters(query)
        await shipNow()
        const rows = await read(listRequests(database.sql, scopeOf(stage.identity), filter, after, limit + 1))
        const page = rows.slice(0, limit)
        const last = page.at(-1)
        return {
          body: {
            data: page.map(requestJson),
            next_cursor: rows.length > limit && last !== undefined ? cursorFor(last) : null,
          },
        }
      },
    },
    {
      method: 'GET',
      path: '/v1/usage/requests/{id}',
      summary: 'One request, with its redacted body, attempts and the parts of its cost',
      logged: false,
      needsKey: true,
      async handle({ stage, params, query }) {
        refuseParameters(query)
        const id = (params.id ?? '').toLowerCase()
        const found = uuid.test(id)
          ? await shipNow().then(() => read(findRequest(database.sql, scopeOf(stage.identity), id)))
          : undefined
        if (found === undefined) {
          throw new GatewayError('unknown_path', 'The usage log has no such request for this key.')
        }
        return { body: detailJson(found) }
      },
    },
    {
      method: 'GET',
      path: '/v1/usage/summary',
      summary: 'Totals by day and model, newest day first',
      logged: false,
      needsKey: true,
      async handle({ stage, query }) {
        const filter = summaryParameters(query, now())
        await shipNow()
        const rows = await read(summariseRequests(database.sql, scopeOf(stage.identity), filter))
        return {
          body: { from: filter.from.toISOString(), to: filter.to.toISOString(), data: rows.map(summaryJson) },
        }
      },
    },
  ]
}

function scopeOf({ tenantId, keyId, usageScope }: Identity): Scope {
  return { tenantId, keyId: usageScope === 'key' ? keyId : null }
}

/** A sum over some millions of rows takes as long. A Postgres that is away is found out much sooner, by others. */
const answerMs = 20_000

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A statement that Postgres refused, other than for a shutdown (57) or want of resources (53). */
function isOwnFault(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'PostgresError') return false
  return !('code' in error && /^5[37]/.test(String(error.code)))
}
