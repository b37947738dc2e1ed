import { z } from 'zod'
import { countFacets, type FacetColumn, type FacetValue, facetColumns } from '../../usage/log/facets.ts'
import { currentNames } from '../../usage/log/names-queries.ts'
import { filterParameters } from '../log-filter.ts'
import { wholeNumber } from '../parameter.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { beginWalk, logTimes, requireOrder, type WalkContext } from './log-walk.ts'
import { seesRouting } from './permit.ts'
import { logProgress } from './requests.ts'

const facet = z.object({
  filter: z.string().describe('The filter that selects the requests with a value.'),
  values: z
    .array(
      z.object({
        value: z.string().nullable().describe('Null for requests without a value.'),
        name: z.string().nullable().describe('The current name of a tenant or key. Null for other values.'),
        requests: z.int(),
      }),
    )
    .describe('The values with the most requests, in this order.'),
  other: z.int().describe('The number of requests with any other value.'),
})

const facets = z
  .object({
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    data: z.array(facet),
    requests: z
      .int()
      .describe('The number of requests that were counted. A row that represents several counts as all.'),
    exact: z
      .boolean()
      .describe(
        'False if only the requests in the period of `progress` were counted, or if there are so many values that rare ones are counted as `other`.',
      ),
    progress: logProgress,
  })
  .meta({ id: 'LogFacets' })

/** Reports which values the matching requests have, and how many requests each. */
export function adminRequestFacetsEndpoint(context: WalkContext): AdminEndpoint {
  const { bounds } = context
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/requests/facets',
    area: 'log',
    tenants: 'own',
    summary: 'Count the matching requests by model, tenant, key, channel, status, outcome and error reason',
    description:
      'Accepts the same filters as the list. Members of a tenant get no counts by tenant, nor by channel unless tenants can see channels.',
    query: z.strictObject({
      ...filterParameters,
      ...logTimes,
      limit: wholeNumber(1, 100).default(8).describe('The maximum number of values of each filter.'),
    }),
    answer: facets,
    async handle({ actor, query, signal }) {
      requireOrder(query)
      const { ask, ...walk } = await beginWalk(context, actor, query, signal)
      const withinMs = bounds.logQueryMs
      const [first, ...more] = facetColumns
      const isShown = (column: FacetColumn) =>
        column === 'tenant_id' ? actor.tenantId === null : column !== 'channel' || seesRouting(context, actor)
      const columns = [first, ...more.filter(isShown)] as const
      const found = await countFacets(ask, walk, { columns, withinMs })
      const shown = [...found.values].map(([column, values]) => ({
        column,
        values: values.slice(0, query.limit),
      }))
      const ids = (kind: FacetColumn) =>
        shown.flatMap(({ column, values }) =>
          column === kind ? values.flatMap(({ value }) => value ?? []) : [],
        )
      const names = await ask((sql) => currentNames(sql, [...ids('tenant_id'), ...ids('key_id')]), {
        withinMs,
        signal,
      })
      return {
        body: {
          from: walk.from.toISOString(),
          to: walk.to.toISOString(),
          data: shown.map(({ column, values }) => ({
            filter: column,
            values: values.map((each) => ({ ...each, name: names.get(each.value ?? '') ?? null })),
            other: found.requests - sumOf(values),
          })),
          requests: found.requests,
          exact: found.done && found.cut.size === 0,
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

function sumOf(values: readonly FacetValue[]): number {
  return values.reduce((sum, { requests }) => sum + requests, 0)
}
