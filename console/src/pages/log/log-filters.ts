import type { Texts } from '../../console-search.ts'

/** A column of the log that rows can be filtered by. */
export interface FilterKind {
  /** The parameter of the API. After `not_` it leaves rows out. */
  name: string
  title: string
  /** `text`: any part of it; `number`: a number or a range such as `100..500`; absent: the value itself. */
  match?: 'text' | 'number'
  /** Values that are known without asking. */
  values?: readonly string[]
  /** Members of a tenant have it not. */
  notForMembers?: true
}

/** In the order of the menu. docs/reference/usage-log.md says what each is. */
export const filterKinds: readonly FilterKind[] = [
  { name: 'outcome', title: 'Outcome', values: ['succeeded', 'refused', 'failed', 'cancelled', 'orphaned'] },
  { name: 'status', title: 'Status', values: ['2xx', '4xx', '5xx', '429', '401', '402', '500..599'] },
  { name: 'error', title: 'Error text', match: 'text' },
  {
    name: 'error_kind',
    title: 'Error kind',
    values: [
      'invalid_request',
      'unauthenticated',
      'permission_denied',
      'insufficient_credit',
      'model_not_found',
      'rate_limited',
      'upstream_error',
      'upstream_overloaded',
      'upstream_timeout',
      'content_filtered',
      'unavailable',
      'internal',
    ],
  },
  { name: 'error_reason', title: 'Error reason' },
  { name: 'model', title: 'Model' },
  { name: 'requested_model', title: 'Requested model' },
  { name: 'served_model', title: 'Served model' },
  { name: 'channel', title: 'Channel', notForMembers: true },
  { name: 'tenant', title: 'Tenant', notForMembers: true },
  { name: 'key', title: 'Key' },
  { name: 'group', title: 'Group' },
  {
    name: 'endpoint',
    title: 'Endpoint',
    values: [
      '/v1/chat/completions',
      '/v1/responses',
      '/v1/messages',
      '/v1/images/generations',
      '/v1/embeddings',
      '/v1/completions',
      '/v1/moderations',
      '/v1/audio/speech',
    ],
  },
  { name: 'stream', title: 'Stream', values: ['true', 'false'] },
  {
    name: 'stream_end',
    title: 'End of stream',
    values: ['complete', 'client_gone', 'upstream_cut', 'timeout', 'shutdown'],
  },
  { name: 'finish_reason', title: 'Finish reason' },
  { name: 'total_ms', title: 'Total, ms', match: 'number' },
  { name: 'first_token_ms', title: 'First token, ms', match: 'number' },
  { name: 'queue_ms', title: 'Before the first call, ms', match: 'number' },
  { name: 'cost_usd', title: 'Cost, USD', match: 'number' },
  { name: 'uncharged', title: 'More cost than charge', values: ['true', 'false'], notForMembers: true },
  { name: 'input_tokens', title: 'Input tokens', match: 'number' },
  { name: 'cache_read_tokens', title: 'Tokens from the cache', match: 'number' },
  { name: 'cache_write_tokens', title: 'Tokens into the cache', match: 'number' },
  { name: 'output_tokens', title: 'Output tokens', match: 'number' },
  { name: 'reasoning_tokens', title: 'Reasoning tokens', match: 'number' },
  { name: 'images', title: 'Images', match: 'number' },
  { name: 'attempts', title: 'Attempts', match: 'number' },
  {
    name: 'usage_source',
    title: 'Source of the usage',
    values: ['upstream', 'partial', 'estimated', 'none', 'implausible'],
  },
  { name: 'end_user', title: 'End user' },
  { name: 'session', title: 'Session' },
  { name: 'tag', title: 'Tag' },
  { name: 'client_address', title: 'Client address' },
  { name: 'user_agent', title: 'User agent', match: 'text' },
  { name: 'note', title: 'Translation note', match: 'text' },
  { name: 'cost_fact', title: 'Fact of the cost', match: 'text', notForMembers: true },
  { name: 'upstream_status', title: 'Upstream status', notForMembers: true },
  { name: 'upstream_protocol', title: 'Upstream format', notForMembers: true },
  { name: 'client_protocol', title: 'Client format' },
  { name: 'upstream_request_id', title: "Upstream's request id", notForMembers: true },
  { name: 'idempotency_key', title: 'Idempotency key' },
  { name: 'request_id', title: 'Request id' },
  { name: 'tenant_id', title: 'Tenant id', notForMembers: true },
  { name: 'key_id', title: 'Key id' },
  { name: 'group_id', title: 'Group id' },
  { name: 'price_id', title: 'Price id', notForMembers: true },
  { name: 'folded', title: 'Folded requests', match: 'number' },
]

const byName = new Map(filterKinds.map((kind) => [kind.name, kind]))

export function filterKind(name: string): FilterKind | undefined {
  return byName.get(name)
}

/** One filter: rows with any of the values, or with none of them. */
export interface Filter {
  name: string
  keeps: boolean
  values: readonly string[]
}

/** The filters of an address, in their order. */
export function filtersOf(search: Texts): Filter[] {
  return Object.entries(search).flatMap(([parameter, value]) => {
    const keeps = !parameter.startsWith('not_')
    const name = keeps ? parameter : parameter.slice('not_'.length)
    return byName.has(name) ? [{ name, keeps, values: typeof value === 'string' ? [value] : value }] : []
  })
}

/** Its parameter in an address and in the API. */
export function parameterOf({ name, keeps }: Pick<Filter, 'name' | 'keeps'>): string {
  return keeps ? name : `not_${name}`
}

/** What the API is asked for: the filters as they are in the address. */
export function queryOf(search: Texts): Record<string, string[]> {
  return Object.fromEntries(filtersOf(search).map((filter) => [parameterOf(filter), [...filter.values]]))
}

/** The address with one more value. A value that was left out and is kept now is no longer left out. */
export function withValue(search: Texts, { name, keeps }: Omit<Filter, 'values'>, value: string): Texts {
  const other = parameterOf({ name, keeps: !keeps })
  const freed = withoutValue(search, other, value)
  const parameter = parameterOf({ name, keeps })
  const before = listOf(freed[parameter])
  return { ...freed, [parameter]: before.includes(value) ? before : [...before, value] }
}

export function withoutValue(search: Texts, parameter: string, value: string): Texts {
  const { [parameter]: before, ...rest } = search
  const left = listOf(before).filter((other) => other !== value)
  return left.length === 0 ? rest : { ...rest, [parameter]: left }
}

export function withoutFilters(search: Texts): Texts {
  const parameters = new Set(filtersOf(search).map(parameterOf))
  return Object.fromEntries(Object.entries(search).filter(([name]) => !parameters.has(name)))
}

function listOf(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}

/** What somebody typed into the search field. */
export type Typed =
  | { kind: 'id'; id: string }
  | { kind: 'filters'; filters: readonly { name: string; keeps: boolean; value: string }[] }

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * A request id; or words: `status:5xx` keeps, `-channel:main` leaves out, `error:"rate limit"` has quotes for
 * spaces, and any other words are a part of the error's text.
 */
export function typedOf(text: string): Typed {
  const words = text.trim()
  const id = words.replace(/^urn:uuid:/, '')
  if (uuid.test(id)) return { kind: 'id', id: id.toLowerCase() }
  const filters: { name: string; keeps: boolean; value: string }[] = []
  const rest = words.replace(
    /(^|\s)(-?)(\w+):("[^"]*"|\S+)/g,
    (whole, _space, minus: string, name: string, value: string) => {
      if (!byName.has(name)) return whole
      filters.push({ name, keeps: minus === '', value: value.replace(/^"|"$/g, '') })
      return ' '
    },
  )
  const error = rest.replace(/\s+/g, ' ').trim().replace(/^"|"$/g, '')
  return {
    kind: 'filters',
    filters: error === '' ? filters : [...filters, { name: 'error', keeps: true, value: error }],
  }
}
