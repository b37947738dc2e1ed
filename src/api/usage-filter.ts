import type { Identity } from '../access/identity.ts'
import type { AdminFilter, Condition } from '../usage/log/row-tests.ts'
import type { RequestFilter } from '../usage/queries.ts'
import { filterFrom, filterParameters } from './admin/log-filter.ts'

/** The admin filters that make sense for a tenant: none for other tenants, groups or the upstream. */
const ownNames = [
  ...[
    'requested_model',
    'served_model',
    'client_protocol',
    'stream',
    'error_kind',
    'error_reason',
    'error',
    'finish_reason',
  ],
  ...['usage_source', 'stream_end', 'idempotency_key', 'client_address', 'user_agent', 'note', 'cost_usd'],
  ...[
    'input_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
    'output_tokens',
    'reasoning_tokens',
    'images',
  ],
  ...['queue_ms', 'first_token_ms', 'total_ms', 'attempts', 'folded', 'key_id'],
]
/** Filters that the list defines in its own form. */
const listNames = ['model', 'status', 'outcome', 'endpoint', 'request_id', 'end_user', 'session', 'tag']

function parametersNamed(names: readonly string[]): typeof filterParameters {
  return Object.fromEntries(Object.entries(filterParameters).filter(([name]) => names.includes(name)))
}

const negated = (names: readonly string[]) => names.map((name) => `not_${name}`)

/** The filters in addition to those that the list has always had. */
export const moreFilters = parametersNamed([...ownNames, ...negated([...ownNames, ...listNames])])
/** All filters in the form used for admins. */
export const ownFilters = parametersNamed([
  ...ownNames,
  ...listNames,
  ...negated([...ownNames, ...listNames]),
])

/** Selects the rows that a key can see and that match the query. */
export function ownFilterFrom(
  { tenantId, keyId, usageScope }: Identity,
  query: object,
  others: readonly Condition[] = [],
): AdminFilter {
  const own: Condition[] = [{ not: false, test: 'is', columns: ['tenant_id'], values: [tenantId] }]
  if (usageScope === 'key') own.push({ not: false, test: 'is', columns: ['key_id'], values: [keyId] })
  return { conditions: [...own, ...others, ...filterFrom({ ...query }).conditions] }
}

/** Converts the filters of the list to conditions. */
export function conditionsFrom(filter: RequestFilter): Condition[] {
  const { model, statusRange, outcome, endpoint, requestId, endUser, session, tags } = filter
  const is = (
    columns: Extract<Condition, { test: 'is' }>['columns'],
    value: string | undefined,
  ): Condition[] => (value === undefined ? [] : [{ not: false, test: 'is', columns, values: [value] }])
  return [
    ...is(['id'], requestId),
    ...is(['requested_model', 'served_model'], model),
    ...is(['outcome'], outcome),
    ...is(['endpoint'], endpoint),
    ...is(['end_user'], endUser),
    ...is(['session'], session),
    ...(tags === undefined ? [] : [{ not: false, test: 'tagged' as const, tags }]),
    ...(statusRange === undefined
      ? []
      : [
          {
            ...{ not: false, test: 'between' as const, column: 'status' as const },
            ranges: [{ least: BigInt(statusRange.least), most: BigInt(statusRange.most) }],
          },
        ]),
  ]
}
