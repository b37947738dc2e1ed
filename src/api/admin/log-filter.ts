import { z } from 'zod'
import { readBlock } from '../../canonical/address-blocks.ts'
import type { AdminFilter, Condition, LogColumn, NamedKind, Range, Test } from '../../usage/log/row-tests.ts'
import { isStorable } from './list.ts'

/**
 * The admin filters of the usage log: one parameter per column, and one with the prefix `not_` that excludes
 * the rows that the first one would show. A parameter can be given several times; a row matches if it has any
 * of the values.
 */

const valuesMax = 32
const valueLengthMax = 256
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Undefined: the text is not valid. Null: the column has no value. */
type Read<Value> = (text: string) => Value | null | undefined

/** A filter before its name and its negation are known. */
interface Filter {
  /** Returns the condition for these texts, or undefined if one of them is not valid. */
  read(texts: readonly string[]): Test | undefined
  /** The expected form, for the error message. */
  form: string
  description: string
}

function filter<Value>(
  form: string,
  description: string,
  read: Read<Value>,
  test: (values: (Value | null)[]) => Test,
): Filter {
  return {
    form,
    description,
    read(texts) {
      const values = texts.map((text) => (text === '' ? null : read(text)))
      const known = values.filter((value) => value !== undefined)
      return known.length < values.length ? undefined : test(known)
    },
  }
}

const asText: Read<string> = (text) => text
const asUuid: Read<string> = (text) => (uuid.test(text) ? text.toLowerCase() : undefined)
const asBoolean: Read<boolean> = (text) => (text === 'true' ? true : text === 'false' ? false : undefined)

const words = (description: string, ...columns: LogColumn[]) =>
  filter('text', description, asText, (values) => ({ test: 'is', columns, values }))
const ids = (description: string, column: LogColumn) =>
  filter('a UUID', description, asUuid, (values) => ({ test: 'is', columns: [column], values }))
const named = (kind: NamedKind) =>
  filter('a name', `The name of the ${kind}, now or at any earlier time.`, asText, (names) => ({
    test: 'named',
    kind,
    names,
  }))
const part = (description: string, column: LogColumn) =>
  filter('text', `${description} Matches any part of it, case-insensitive.`, asText, (parts) => ({
    test: 'contains',
    column,
    parts,
  }))
const range = (description: string, column: LogColumn) =>
  filter(
    'a number, or a range such as 100..500, 100.. or ..500',
    `${description} A number, or an inclusive range such as \`100..500\`, \`100..\` or \`..500\`.`,
    (text) => rangeOf(text, wholeNumber),
    (ranges) => ({ test: 'between', column, ranges }),
  )

const statuses = (description: string, column: LogColumn) =>
  filter(
    'a status such as 404, a class such as 4xx or a range such as 400..499',
    description,
    (text): Range | undefined => {
      if (/^[1-5]xx$/i.test(text)) {
        const least = BigInt(text.slice(0, 1)) * 100n
        return { least, most: least + 99n }
      }
      return rangeOf(text, wholeNumber)
    },
    (ranges) => ({ test: 'between', column, ranges }),
  )

const cost = filter(
  'an amount in USD, or a range such as 0.01..2',
  'The cost in USD. An amount, or an inclusive range such as `0.01..2`, `1..` or `..0.5`.',
  (text) => rangeOf(text, nanoUsd),
  (ranges) => ({ test: 'between', column: 'cost_nano', ranges }),
)
const uncharged = filter(
  'true or false',
  'Whether part of the cost was not charged because too little was held.',
  asBoolean,
  (values): Test => ({ test: 'uncharged', values }),
)
const address = filter(
  'an address or a CIDR block',
  "The client's address, or a CIDR block such as `192.0.2.0/24`.",
  readBlock,
  (blocks): Test => ({ test: 'within', column: 'client_address', blocks }),
)
const stream = filter('true or false', 'Whether the client requested a stream.', asBoolean, (values) => ({
  test: 'is',
  columns: ['stream'],
  values,
}))
const tag = filter(
  'a tag',
  'A tag of the request. With several tags, a request must have all of them.',
  asText,
  (tags): Test => ({ test: 'tagged', tags }),
)

const filters = {
  tenant: named('tenant'),
  tenant_id: ids('The tenant.', 'tenant_id'),
  key: named('key'),
  key_id: ids('The key.', 'key_id'),
  group: named('group'),
  group_id: ids('The group of the key at that time.', 'group_id'),
  request_id: ids('The `x-request-id` of the response.', 'id'),
  endpoint: words('The path that was called.', 'endpoint'),
  client_protocol: words('The format that the client speaks.', 'client_protocol'),
  upstream_protocol: words('The format in which the upstream was called.', 'upstream_protocol'),
  model: words('The model, as requested or as served.', 'requested_model', 'served_model'),
  requested_model: words('The model that the client requested.', 'requested_model'),
  served_model: words('The model that answered.', 'served_model'),
  channel: words('The channel that answered or was called last.', 'channel'),
  stream,
  status: statuses('A status such as `429`, a class such as `4xx` or a range such as `500..504`.', 'status'),
  outcome: words('`succeeded`, `refused`, `failed`, `cancelled` or `orphaned`.', 'outcome'),
  error_kind: words('The kind of the error.', 'error_kind'),
  error_reason: words('The reason code of the refusal or failure.', 'error_reason'),
  error: part('The message of the error.', 'error_message'),
  upstream_status: statuses('The status of an upstream error.', 'error_upstream_status'),
  finish_reason: words('Why the answer ended.', 'finish_reason'),
  usage_source: words('`upstream`, `partial`, `estimated`, `none` or `implausible`.', 'usage_source'),
  stream_end: words('`complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`.', 'stream_end'),
  upstream_request_id: words("The upstream's id for the last call.", 'upstream_request_id'),
  idempotency_key: words("The request's `idempotency-key`.", 'idempotency_key'),
  end_user: words('The end user that the client named.', 'end_user'),
  session: words('The conversation or agent run.', 'session'),
  tag,
  client_address: address,
  user_agent: part("The client's `user-agent`.", 'user_agent'),
  note: part('A change made by translation: its path, action or reason.', 'notes'),
  cost_fact: part('A fact, other than tokens, that the cost depends on.', 'cost_facts'),
  price_id: ids('The id of the price that was applied.', 'price_id'),
  price_multiplier: words('The multiplier of the price, as a decimal.', 'price_multiplier'),
  cost_usd: cost,
  uncharged,
  input_tokens: range('Input tokens at the full rate.', 'input_tokens'),
  cache_read_tokens: range('Input tokens from the cache.', 'cache_read_tokens'),
  cache_write_tokens: range('Input tokens written to the cache.', 'cache_write_tokens'),
  output_tokens: range('Output tokens, without reasoning.', 'output_tokens'),
  reasoning_tokens: range('Output tokens used for reasoning.', 'reasoning_tokens'),
  images: range('The number of images delivered.', 'images'),
  queue_ms: range('Milliseconds until the first upstream call.', 'queue_ms'),
  first_token_ms: range('Milliseconds until the first content.', 'first_token_ms'),
  total_ms: range('Milliseconds until the end.', 'total_ms'),
  attempts: range('The number of upstream calls.', 'attempt_count'),
  folded: range('The number of requests that the row represents.', 'folded'),
} satisfies Record<string, Filter>

/** The parameter of a filter, which can be given once or several times. */
function parameter({ read, form, description }: Filter, not: boolean) {
  return z
    .unknown()
    .transform((value, context): Condition => {
      const texts = [value]
        .flat()
        .map((each) =>
          typeof each === 'string' && each.length <= valueLengthMax && isStorable(each) ? each : undefined,
        )
      const known = texts.filter((text) => text !== undefined)
      const test = known.length < texts.length ? undefined : read(known)
      if (texts.length > valuesMax)
        context.addIssue({
          code: 'custom',
          message: `expected at most ${valuesMax} values, got ${texts.length}`,
        })
      else if (test === undefined)
        context.addIssue({
          code: 'custom',
          message: `expected ${form}, or an empty value for rows without one`,
        })
      else return { not, ...test }
      return z.NEVER
    })
    .meta({
      type: 'array',
      items: { type: 'string', maxLength: valueLengthMax },
      maxItems: valuesMax,
      description: not ? `Excludes the rows that the filter without \`not_\` would show.` : description,
    })
    .optional()
}

/** For the query of an endpoint, next to its other parameters. */
export const filterParameters: Readonly<Record<string, ReturnType<typeof parameter>>> = Object.fromEntries(
  Object.entries<Filter>(filters).flatMap(([name, each]) => [
    [name, parameter(each, false)],
    [`not_${name}`, parameter(each, true)],
  ]),
)

/** Only the filters, as stored in a saved view. */
export const adminFilterQuery = z.strictObject(filterParameters)

/** Returns the filter of a query with `filterParameters`. Other parameters are ignored. */
export function filterFrom(query: Partial<Record<string, unknown>>): AdminFilter {
  return {
    conditions: Object.keys(filterParameters).flatMap((name) => {
      const condition = query[name]
      return isCondition(condition) ? [condition] : []
    }),
  }
}

function isCondition(value: unknown): value is Condition {
  return typeof value === 'object' && value !== null && 'test' in value && 'not' in value
}

/** `..` separates the two ends. A single value is both ends. */
function rangeOf(text: string, read: Read<bigint>): Range | undefined {
  const [from = '', to = from, ...more] = text.split('..')
  if (more.length > 0 || (from === '' && to === '')) return undefined
  const [least, most] = [from, to].map((end) => (end === '' ? null : read(end)))
  if (least === undefined || most === undefined) return undefined
  return { least: least ?? undefined, most: most ?? undefined }
}

const wholeNumber: Read<bigint> = (text) => (/^\d{1,15}$/.test(text) ? BigInt(text) : undefined)

const nanoUsd: Read<bigint> = (text) => {
  const [, whole, decimals = ''] = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole + decimals.padEnd(9, '0'))
}
