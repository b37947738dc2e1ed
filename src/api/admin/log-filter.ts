import { z } from 'zod'
import { readBlock } from '../../address-blocks.ts'
import type { AdminFilter, Condition, LogColumn, NamedKind, Range, Test } from '../../ledger/log/filter.ts'
import { isStorable } from './list.ts'

/**
 * The filters of the usage log for admins: one parameter for each column, and one with `not_` before its
 * name, which leaves out the rows that the first would show. A parameter may be given several times: a row
 * matches if it has one of the values.
 */

const valuesMax = 32
const valueLengthMax = 256
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Undefined: not valid. Null: the column has no value. */
type Read<Value> = (text: string) => Value | null | undefined

/** A parameter before it has its name and its `not`. */
interface Filter {
  /** The condition for these texts; undefined where one of them is not valid. */
  read(texts: readonly string[]): Test | undefined
  /** What is expected, for the error message. */
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
  filter('a text', description, asText, (values) => ({ test: 'is', columns, values }))
const ids = (description: string, column: LogColumn) =>
  filter('a UUID', description, asUuid, (values) => ({ test: 'is', columns: [column], values }))
const named = (kind: NamedKind) =>
  filter('a name', `The ${kind}'s name, now or at any time before.`, asText, (names) => ({
    test: 'named',
    kind,
    names,
  }))
const part = (description: string, column: LogColumn) =>
  filter('a text', `${description} Any part of it, in capital or small letters.`, asText, (parts) => ({
    test: 'contains',
    column,
    parts,
  }))
const range = (description: string, column: LogColumn) =>
  filter(
    'a number, or a range such as 100..500, 100.. or ..500',
    `${description} A number, or a range such as \`100..500\`, \`100..\` or \`..500\`, with both its ends.`,
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
  'Cost in USD. An amount, or a range such as `0.01..2`, `1..` or `..0.5`, with both its ends.',
  (text) => rangeOf(text, nanoUsd),
  (ranges) => ({ test: 'between', column: 'cost_nano', ranges }),
)
const uncharged = filter(
  'true or false',
  'Whether a part of the cost was not charged, because no more was held.',
  asBoolean,
  (values): Test => ({ test: 'uncharged', values }),
)
const address = filter(
  'an address or a CIDR block',
  "The client's address, or a CIDR block such as `192.0.2.0/24`.",
  readBlock,
  (blocks): Test => ({ test: 'within', column: 'client_address', blocks }),
)
const stream = filter('true or false', 'Whether the client asked for a stream.', asBoolean, (values) => ({
  test: 'is',
  columns: ['stream'],
  values,
}))
const tag = filter(
  'a tag',
  'A tag; several: all of them.',
  asText,
  (tags): Test => ({ test: 'tagged', tags }),
)

const filters = {
  tenant: named('tenant'),
  tenant_id: ids('The tenant.', 'tenant_id'),
  key: named('key'),
  key_id: ids('The key.', 'key_id'),
  group: named('group'),
  group_id: ids('The group that the key was in.', 'group_id'),
  request_id: ids('The `x-request-id` of the response.', 'id'),
  endpoint: words('The path that was called.', 'endpoint'),
  client_protocol: words('The format that the client speaks.', 'client_protocol'),
  upstream_protocol: words('The format in which the upstream was asked.', 'upstream_protocol'),
  model: words('The model, as requested or as served.', 'requested_model', 'served_model'),
  requested_model: words('The model that the client asked for.', 'requested_model'),
  served_model: words('The model that answered.', 'served_model'),
  channel: words('The channel that answered, or was asked last.', 'channel'),
  stream,
  status: statuses('A status such as `429`, a class such as `4xx` or a range such as `500..504`.', 'status'),
  outcome: words('`succeeded`, `refused`, `failed`, `cancelled` or `orphaned`.', 'outcome'),
  error_kind: words('The kind of the error.', 'error_kind'),
  error_reason: words('Which refusal or failure it was: a word of the list of errors.', 'error_reason'),
  error: part('The message of the error.', 'error_message'),
  upstream_status: statuses('The status that the upstream gave with an error.', 'error_upstream_status'),
  finish_reason: words('Why the answer ended.', 'finish_reason'),
  usage_source: words('`upstream`, `partial`, `estimated`, `none` or `implausible`.', 'usage_source'),
  stream_end: words('`complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`.', 'stream_end'),
  upstream_request_id: words("The upstream's id of the last call.", 'upstream_request_id'),
  idempotency_key: words("The request's `idempotency-key`.", 'idempotency_key'),
  end_user: words('The user that the client named.', 'end_user'),
  session: words('The conversation, or run of an agent.', 'session'),
  tag,
  client_address: address,
  user_agent: part("The client's `user-agent`.", 'user_agent'),
  note: part('What translation changed: a path, an action or a reason.', 'notes'),
  cost_fact: part('What the cost depends on besides tokens.', 'cost_facts'),
  price_id: ids('The price of the row.', 'price_id'),
  price_multiplier: words('The multiplier of that price, as decimal.', 'price_multiplier'),
  cost_usd: cost,
  uncharged,
  input_tokens: range('Input tokens at the full rate.', 'input_tokens'),
  cache_read_tokens: range('Input tokens from the cache.', 'cache_read_tokens'),
  cache_write_tokens: range('Input tokens written to the cache.', 'cache_write_tokens'),
  output_tokens: range('Output tokens, without reasoning.', 'output_tokens'),
  reasoning_tokens: range('Output tokens of reasoning.', 'reasoning_tokens'),
  images: range('Images delivered.', 'images'),
  queue_ms: range('Milliseconds until the first call upstream.', 'queue_ms'),
  first_token_ms: range('Milliseconds until the first content.', 'first_token_ms'),
  total_ms: range('Milliseconds until the end.', 'total_ms'),
  attempts: range('Calls upstream.', 'attempt_count'),
  folded: range('How many requests the row represents.', 'folded'),
} satisfies Record<string, Filter>

/** The parameter of a filter, given once or several times. */
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
          message: `expected at most ${valuesMax} of them, got ${texts.length}`,
        })
      else if (test === undefined)
        context.addIssue({ code: 'custom', message: `expected ${form}, or nothing for rows that have none` })
      else return { not, ...test }
      return z.NEVER
    })
    .meta({
      type: 'array',
      items: { type: 'string', maxLength: valueLengthMax },
      maxItems: valuesMax,
      description: not ? `Without the rows that the filter without \`not_\` shows.` : description,
    })
    .optional()
}

/** For the query of an endpoint, besides its other parameters. */
export const filterParameters: Readonly<Record<string, ReturnType<typeof parameter>>> = Object.fromEntries(
  Object.entries<Filter>(filters).flatMap(([name, each]) => [
    [name, parameter(each, false)],
    [`not_${name}`, parameter(each, true)],
  ]),
)

/** The filters alone, as a saved view keeps them. */
export const adminFilterQuery = z.strictObject(filterParameters)

/** The filter of a query with `filterParameters`. It ignores other parameters. */
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
