import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { findRequest, listRequests, type Scope, summariseRequests } from '../ledger/queries.ts'
import type { OwnEndpoint } from './own-endpoint.ts'
import { detailJson, requestJson, summaryJson } from './usage-json.ts'
import { cursorFor, listParameters, refuseParameters, summaryParameters } from './usage-parameters.ts'

export interface UsageContext {
  database: Pick<Database, 'reads'>
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
        const rows = await database.reads.ask(
          ({ sql }) => listRequests(sql, scopeOf(stage.identity), filter, after, limit + 1),
          away,
        )
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
          ? await shipNow().then(() =>
              database.reads.ask(({ sql }) => findRequest(sql, scopeOf(stage.identity), id), away),
            )
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
        const rows = await database.reads.ask(
          ({ sql }) => summariseRequests(sql, scopeOf(stage.identity), filter),
          away,
        )
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

const away = {
  unavailable: 'The usage log cannot be read just now. Nothing is lost: try again.',
  retryAfterSeconds: 5,
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
