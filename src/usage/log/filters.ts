/**
 * The filters of the usage log, each declared once. The parameters of the API and their descriptions, the
 * conditions in SQL, the arguments of `tollgate logs` and the fields of the console are derived from this
 * list. Every filter can be negated with the prefix `not_`, and accepts several values.
 * The console bundles this file, so it imports nothing.
 */

export interface FilterDeclaration {
  /** Its name in the console. */
  readonly title: string
  readonly kind: FilterKind
  /** The columns of `requests` that it tests. A row matches if any of them does. */
  readonly columns: readonly [string, ...string[]]
  /**
   * `clients`: for everyone, including clients that read the log with their key. `members`: for people, not
   * for clients. `operators`: the console does not offer it to members of a tenant.
   */
  readonly for: 'clients' | 'members' | 'operators'
  readonly description: string
  /** Values that the console suggests. */
  readonly values?: readonly string[]
  /** The width in pixels of its column in the console. Absent: the console has no column for it. */
  readonly width?: number
  /** Where its value is in the JSON of a row, if not at its name. */
  readonly member?: string
}

/** The form of its values, and how they are compared with a row. */
export type FilterKind =
  /** Equal. */
  | 'text'
  | 'uuid'
  | 'boolean'
  /** A current or former name of the tenant, key or group. */
  | 'tenant'
  | 'key'
  | 'group'
  /** The text contains the value, ignoring case. */
  | 'part'
  /** Equal, or in a range such as `100..500`. */
  | 'number'
  | 'usd'
  /** As a number, or a class such as `4xx`. */
  | 'status'
  /** In a CIDR block. */
  | 'address'
  /** Has all of the tags. */
  | 'tag'
  /** Whether the cost is higher than the charge. */
  | 'uncharged'

// biome-ignore format: a table, in which each filter has two lines.
export const logFilters = {
  tenant: { title: 'Tenant', kind: 'tenant', columns: ['tenant_id'], for: 'operators',
    description: 'The name of the tenant, now or at any earlier time.' },
  tenant_id: { title: 'Tenant id', kind: 'uuid', columns: ['tenant_id'], for: 'operators',
    description: 'The tenant.' },
  key: { title: 'Key', kind: 'key', columns: ['key_id'], for: 'members',
    description: 'The name of the key, now or at any earlier time.' },
  key_id: { title: 'Key id', kind: 'uuid', columns: ['key_id'], for: 'clients',
    description: 'The key.' },
  group: { title: 'Group', kind: 'group', columns: ['group_id'], for: 'members',
    description: 'The name of the group, now or at any earlier time.' },
  group_id: { title: 'Group id', kind: 'uuid', columns: ['group_id'], for: 'members',
    description: 'The group of the key at that time.' },
  request_id: { title: 'Request id', kind: 'uuid', columns: ['id'], for: 'clients', width: 288, member: 'id',
    description: 'The `x-request-id` of the response.' },
  endpoint: { title: 'Endpoint', kind: 'text', columns: ['endpoint'], for: 'clients', width: 168,
    description: 'The path that was called.', values: ['/v1/chat/completions', '/v1/responses', '/v1/messages',
      '/v1/images/generations', '/v1/embeddings', '/v1/completions', '/v1/moderations', '/v1/audio/speech'] },
  client_protocol: { title: 'Client format', kind: 'text', columns: ['client_protocol'], for: 'clients', width: 144,
    description: 'The format that the client speaks.' },
  upstream_protocol: { title: 'Upstream format', kind: 'text', columns: ['upstream_protocol'], for: 'operators', width: 144,
    description: 'The format in which the upstream was called.' },
  model: { title: 'Model', kind: 'text', columns: ['requested_model', 'served_model'], for: 'clients',
    description: 'The model, as requested or as served.' },
  requested_model: { title: 'Requested model', kind: 'text', columns: ['requested_model'], for: 'clients',
    description: 'The model that the client requested.' },
  served_model: { title: 'Served model', kind: 'text', columns: ['served_model'], for: 'clients',
    description: 'The model that answered.' },
  channel: { title: 'Channel', kind: 'text', columns: ['channel'], for: 'operators',
    description: 'The channel that answered or was called last.' },
  stream: { title: 'Stream', kind: 'boolean', columns: ['stream'], for: 'clients', values: ['true', 'false'],
    description: 'Whether the client requested a stream.' },
  status: { title: 'Status', kind: 'status', columns: ['status'], for: 'clients',
    description: 'A status such as `429`, a class such as `4xx` or a range such as `500..504`.',
    values: ['2xx', '4xx', '5xx', '429', '401', '402', '500..599'] },
  outcome: { title: 'Outcome', kind: 'text', columns: ['outcome'], for: 'clients', width: 96,
    description: '`succeeded`, `refused`, `failed`, `cancelled` or `orphaned`.',
    values: ['succeeded', 'refused', 'failed', 'cancelled', 'orphaned'] },
  error_kind: { title: 'Error kind', kind: 'text', columns: ['error_kind'], for: 'clients', width: 144, member: 'error.kind',
    description: 'The kind of the error.', values: ['invalid_request', 'unauthenticated', 'permission_denied',
      'insufficient_credit', 'model_not_found', 'rate_limited', 'upstream_error', 'upstream_overloaded',
      'upstream_timeout', 'content_filtered', 'unavailable', 'internal'] },
  error_reason: { title: 'Error reason', kind: 'text', columns: ['error_reason'], for: 'clients', width: 168, member: 'error.reason',
    description: 'The reason code of the refusal or failure.' },
  error: { title: 'Error text', kind: 'part', columns: ['error_message'], for: 'clients',
    description: 'The message of the error.' },
  upstream_status: { title: 'Upstream status', kind: 'status', columns: ['error_upstream_status'], for: 'operators',
    description: 'The status of an upstream error.' },
  finish_reason: { title: 'Finish reason', kind: 'text', columns: ['finish_reason'], for: 'clients', width: 104,
    description: 'Why the answer ended.' },
  usage_source: { title: 'Source of the usage', kind: 'text', columns: ['usage_source'], for: 'clients', width: 136,
    description: '`upstream`, `partial`, `estimated`, `none` or `implausible`.',
    values: ['upstream', 'partial', 'estimated', 'none', 'implausible'] },
  stream_end: { title: 'End of stream', kind: 'text', columns: ['stream_end'], for: 'clients', width: 112,
    description: '`complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`.',
    values: ['complete', 'client_gone', 'upstream_cut', 'timeout', 'shutdown'] },
  upstream_request_id: { title: "Upstream's request id", kind: 'text', columns: ['upstream_request_id'], for: 'operators', width: 160,
    description: "The upstream's id for the last call." },
  idempotency_key: { title: 'Idempotency key', kind: 'text', columns: ['idempotency_key'], for: 'clients',
    description: "The request's `idempotency-key`." },
  end_user: { title: 'End user', kind: 'text', columns: ['end_user'], for: 'clients', width: 144,
    description: 'The end user that the client named.' },
  session: { title: 'Session', kind: 'text', columns: ['session'], for: 'clients', width: 144,
    description: 'The conversation or agent run.' },
  tag: { title: 'Tag', kind: 'tag', columns: ['tags'], for: 'clients',
    description: 'A tag of the request. With several tags, a request must have all of them.' },
  client_address: { title: 'Client address', kind: 'address', columns: ['client_address'], for: 'clients', width: 128,
    description: "The client's address, or a CIDR block such as `192.0.2.0/24`." },
  user_agent: { title: 'User agent', kind: 'part', columns: ['user_agent'], for: 'clients', width: 176,
    description: "The client's `user-agent`." },
  note: { title: 'Translation note', kind: 'part', columns: ['notes'], for: 'clients',
    description: 'A change made by translation: its path, action or reason.' },
  cost_fact: { title: 'Fact of the cost', kind: 'part', columns: ['cost_facts'], for: 'operators',
    description: 'A fact, other than tokens, that the cost depends on.' },
  price_id: { title: 'Price id', kind: 'uuid', columns: ['price_id'], for: 'operators',
    description: 'The id of the price that was applied.' },
  price_multiplier: { title: 'Price multiplier', kind: 'text', columns: ['price_multiplier'], for: 'operators',
    description: 'The multiplier of the price, as a decimal.' },
  cost_usd: { title: 'Cost, USD', kind: 'usd', columns: ['cost_nano'], for: 'clients',
    description: 'The cost in USD. An amount, or an inclusive range such as `0.01..2`, `1..` or `..0.5`.' },
  uncharged: { title: 'More cost than charge', kind: 'uncharged', columns: ['cost_nano'], for: 'operators', values: ['true', 'false'],
    description: 'Whether part of the cost was not charged because too little was held.' },
  input_tokens: { title: 'Input tokens', kind: 'number', columns: ['input_tokens'], for: 'clients',
    description: 'Input tokens at the full rate.' },
  cache_read_tokens: { title: 'Tokens from the cache', kind: 'number', columns: ['cache_read_tokens'], for: 'clients',
    description: 'Input tokens from the cache.' },
  cache_write_tokens: { title: 'Tokens into the cache', kind: 'number', columns: ['cache_write_tokens'], for: 'clients',
    description: 'Input tokens written to the cache.' },
  output_tokens: { title: 'Output tokens', kind: 'number', columns: ['output_tokens'], for: 'clients',
    description: 'Output tokens, without reasoning.' },
  reasoning_tokens: { title: 'Reasoning tokens', kind: 'number', columns: ['reasoning_tokens'], for: 'clients',
    description: 'Output tokens used for reasoning.' },
  images: { title: 'Images', kind: 'number', columns: ['images'], for: 'clients',
    description: 'The number of images delivered.' },
  queue_ms: { title: 'Before the first call, ms', kind: 'number', columns: ['queue_ms'], for: 'clients',
    description: 'Milliseconds until the first upstream call.' },
  first_token_ms: { title: 'First token, ms', kind: 'number', columns: ['first_token_ms'], for: 'clients',
    description: 'Milliseconds until the first content.' },
  total_ms: { title: 'Total, ms', kind: 'number', columns: ['total_ms'], for: 'clients',
    description: 'Milliseconds until the end.' },
  attempts: { title: 'Attempts', kind: 'number', columns: ['attempt_count'], for: 'clients', width: 72,
    description: 'The number of upstream calls.' },
  folded: { title: 'Folded requests', kind: 'number', columns: ['folded'], for: 'clients',
    description: 'The number of requests that the row represents.' },
} as const satisfies Readonly<Record<string, FilterDeclaration>>

export type FilterName = keyof typeof logFilters

/** In the order of the list. */
export const filterNames = Object.keys(logFilters) as FilterName[]
