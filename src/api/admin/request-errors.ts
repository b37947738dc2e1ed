import { z } from 'zod'
import { groupErrors, messagesOf } from '../../usage/log/error-groups.ts'
import { filterParameters } from '../log-filter.ts'
import { wholeNumber } from '../parameter.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { beginWalk, logTimes, requireOrder, type WalkContext } from './log-walk.ts'
import { logProgress } from './requests.ts'

const requests = z
  .int()
  .describe('The number of requests. A row that represents several requests counts as all of them.')

const group = z.object({
  kind: z.string(),
  reason: z.string().nullable().describe('The reason code. Null in rows from before reason codes existed.'),
  endpoint: z
    .string()
    .nullable()
    .describe(
      'The path that was called. Null for a group that combines many small groups with different paths.',
    ),
  channel: z
    .string()
    .nullable()
    .describe('The channel that answered or was called last. Null if none was called, and for members.'),
  upstream_status: z
    .int()
    .nullable()
    .describe('The status from the upstream. Null if no upstream answered, and for members.'),
  requests,
  first_at: z.iso.datetime().describe('The first occurrence in the requested period.'),
  last_at: z.iso.datetime(),
  last_request_id: z.uuid(),
  last_message: z
    .string()
    .nullable()
    .describe('The message that the client of the last request received. Null if its day is in the archive.'),
})

const groups = z
  .object({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    data: z.array(group).describe('The groups, largest first.'),
    other: z
      .object({ groups: z.int(), requests })
      .nullable()
      .describe('The groups beyond `data`, combined. Null if there are none.'),
    requests: z.int().describe('The number of errors that were counted.'),
    exact: z.boolean().describe('False if only the errors in the period of `progress` were counted.'),
    progress: logProgress,
  })
  .meta({ id: 'LogErrors' })

/** Reports which errors occurred, how often, since when, and the latest of each. */
export function adminRequestErrorsEndpoint(context: WalkContext): AdminEndpoint {
  const { bounds } = context
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/requests/errors',
    area: 'log',
    tenants: 'own',
    summary: 'Group the matching errors by kind, reason, endpoint, channel and upstream status',
    description:
      'Accepts the same filters as the list. For members of a tenant, errors are only grouped by kind, reason and endpoint.',
    query: z.strictObject({
      ...filterParameters,
      ...logTimes,
      limit: wholeNumber(1, 200).default(50).describe('The maximum number of groups in the response.'),
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
