import { wrongUsage } from './exit-codes.ts'
import { optional } from './options.ts'

/** The names of the admin API's usage-log filters. A test compares them with the API. */
export const filterNames = [
  'tenant',
  'tenant_id',
  'key',
  'key_id',
  'group',
  'group_id',
  'request_id',
  'endpoint',
  'client_protocol',
  'upstream_protocol',
  'model',
  'requested_model',
  'served_model',
  'channel',
  'stream',
  'status',
  'outcome',
  'error_kind',
  'error_reason',
  'error',
  'upstream_status',
  'finish_reason',
  'usage_source',
  'stream_end',
  'upstream_request_id',
  'idempotency_key',
  'end_user',
  'session',
  'tag',
  'client_address',
  'user_agent',
  'note',
  'cost_fact',
  'price_id',
  'price_multiplier',
  'cost_usd',
  'uncharged',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'images',
  'queue_ms',
  'first_token_ms',
  'total_ms',
  'attempts',
  'folded',
] as const

const known = new Set<string>(filterNames)

/** The argument that filters the rows. */
export const filters = {
  ...optional('FILTER', 'NAME=VALUE, such as status=5xx tenant=acme not_model=gpt-main total_ms=5000..', {
    completes: filterNames.map((name) => `${name}=`),
  }),
  repeats: true,
  read: (texts: readonly string[]) => texts.map(pairOf),
}

/** `status=5xx` becomes ['status', '5xx']. Throws if there is no filter of that name. */
function pairOf(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new Error(`must be NAME=VALUE, not ${JSON.stringify(text)}`)
  const name = text.slice(0, at)
  if (!known.has(name.replace(/^not_/, '')))
    throw wrongUsage(
      `unknown filter ${JSON.stringify(name)}. The filters are ${filterNames.join(', ')}; each can be negated with the prefix not_.`,
    )
  return [name, text.slice(at + 1)]
}

export function queryOf(pairs: readonly (readonly [string, string])[]): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, text] of pairs) query.append(name, text)
  return query
}
