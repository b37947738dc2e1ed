import { z } from 'zod'
import { groupErrors, messagesOf } from '../../ledger/log/error-groups.ts'
import { wholeNumber } from '../parameter.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { filterParameters } from './log-filter.ts'
import { beginWalk, logTimes, requireOrder, type WalkContext } from './log-walk.ts'
import { logProgress } from './requests.ts'

const requests = z.int().describe('A row of a flood counts as the requests it represents.')

const group = z.object({
  kind: z.string(),
  reason: z.string().nullable().describe('Null in rows of before there were reasons.'),
  endpoint: z
    .string()
    .nullable()
    .describe(
      'The path that was called. Null: the paths of small groups together, where there are very many.',
    ),
  channel: z
    .string()
    .nullable()
    .describe('The channel that answered, or was asked last. Null: none was asked, and for members.'),
  upstream_status: z.int().nullable().describe('Null: no upstream answered, and for members.'),
  requests,
  first_at: z.iso.datetime().describe('The first one of the time that was asked for.'),
  last_at: z.iso.datetime(),
  last_request_id: z.uuid(),
  last_message: z
    .string()
    .nullable()
    .describe('The message that the client of the last request got. Null: its day is in the archive.'),
})

const groups = z
  .object({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    data: z.array(group).describe('The largest first.'),
    other: z
      .object({ groups: z.int(), requests })
      .nullable()
      .describe('The groups beyond `data`, together; null: there are none.'),
    requests: z.int().describe('All errors that were counted.'),
    exact: z.boolean().describe('False: only the errors in `progress` are counted.'),
    progress: logProgress,
  })
  .meta({ id: 'LogErrors' })

/** Which errors there are, how many of each, since when, and the last one of each. */
export function adminRequestErrorsEndpoint(context: WalkContext): AdminEndpoint {
  const { bounds } = context
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/requests/errors',
    area: 'log',
    tenants: 'own',
    summary: 'The errors that match, by kind, reason, endpoint, channel and status of the upstream',
    description:
      'The filters of the list. A member of one tenant gets groups by kind, reason and endpoint alone.',
    query: z.strictObject({
      ...filterParameters,
      ...logTimes,
      limit: wholeNumber(1, 200).default(50).describe('Groups in the answer.'),
    }),
    answer: groups,
    async handle({ actor, query, signal }) {
      requireOrder(query)
      const { ask, ...walk } = await beginWalk(context, actor, query, signal)
      const withinMs = bounds.logQueryMs
      const by = actor.tenantId === null ? 'routes' : 'endpoints'
      const found = await groupErrors(ask, walk, { by, withinMs })
      const shown = found.groups.slice(0, query.limit)
      const rest = found.groups.slice(query.limit)
      const messages = await ask((sql) => messagesOf(sql, shown), { withinMs, signal })
      return {
        body: {
          from: walk.from.toISOString(),
          to: walk.to.toISOString(),
          data: shown.map(({ firstAt, lastAt, lastId, ...each }) => ({
            ...each,
            first_at: firstAt.toISOString(),
            last_at: lastAt.toISOString(),
            last_request_id: lastId,
            last_message: messages.get(lastId) ?? null,
          })),
          other:
            rest.length === 0
              ? null
              : { groups: rest.length, requests: rest.reduce((sum, { requests }) => sum + requests, 0) },
          requests: found.requests,
          exact: found.done,
          progress: {
            searched_from: found.searchedTo.toISOString(),
            searched_to: walk.to.toISOString(),
            done: found.done,
          },
        },
      }
    },
  })
}
