import { z } from 'zod'
import { readBlock } from '../canonical/address-blocks.ts'
import {
  type FilterDeclaration,
  type FilterKind,
  type FilterName,
  filterNames,
  logFilters,
} from '../usage/log/filters.ts'
import type { Condition, LogColumn, LogFilter, NamedKind, Range, Test } from '../usage/log/row-tests.ts'
import { isStorable } from './admin/list.ts'

/**
 * The filters of the usage log as parameters: one for each, and one with the prefix `not_` that excludes the
 * rows that the first one would show. A parameter can be given several times; a row matches if it has any of
 * the values.
 */

const valuesMax = 32
const valueLengthMax = 256
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Undefined: the text is not valid. Null: the column has no value. */
type Read<Value> = (text: string) => Value | null | undefined
type Columns = readonly [LogColumn, ...LogColumn[]]

/** How the values of a kind of filter are written. */
interface Form {
  /** Returns the test for these texts, or undefined if one of them is not valid. */
  read(texts: readonly string[], columns: Columns): Test | undefined
  /** The expected form, for the error message. */
  expected: string
  /** What follows the description of a filter. */
  hint: string
}

function form<Value>(
  expected: string,
  read: Read<Value>,
  test: (values: (Value | null)[], columns: Columns) => Test,
  hint = '',
): Form {
  return {
    expected,
    hint,
    read(texts, columns) {
      const values = texts.map((text) => (text === '' ? null : read(text)))
      const known = values.filter((value) => value !== undefined)
      return known.length < values.length ? undefined : test(known, columns)
    },
  }
}

const asText: Read<string> = (text) => text
const asUuid: Read<string> = (text) => (uuid.test(text) ? text.toLowerCase() : undefined)
const asBoolean: Read<boolean> = (text) => (text === 'true' ? true : text === 'false' ? false : undefined)
const asNumber: Read<bigint> = (text) => (/^\d{1,15}$/.test(text) ? BigInt(text) : undefined)

const asNanoUsd: Read<bigint> = (text) => {
  const [, whole, decimals = ''] = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole + decimals.padEnd(9, '0'))
}

function asStatus(text: string): Range | undefined {
  if (!/^[1-5]xx$/i.test(text)) return rangeOf(text, asNumber)
  const least = BigInt(text.slice(0, 1)) * 100n
  return { least, most: least + 99n }
}

/** `..` separates the two ends. A single value is both ends. */
function rangeOf(text: string, read: Read<bigint>): Range | undefined {
  const [from = '', to = from, ...more] = text.split('..')
  if (more.length > 0 || (from === '' && to === '')) return undefined
  const [least, most] = [from, to].map((end) => (end === '' ? null : read(end)))
  if (least === undefined || most === undefined) return undefined
  return { least: least ?? undefined, most: most ?? undefined }
}

const is = (values: (string | boolean | null)[], columns: Columns): Test => ({ test: 'is', columns, values })
const between = (ranges: (Range | null)[], [column]: Columns): Test => ({ test: 'between', column, ranges })
const named = (kind: NamedKind) => form('a name', asText, (names): Test => ({ test: 'named', kind, names }))

const forms: Readonly<Record<FilterKind, Form>> = {
  text: form('text', asText, is),
  uuid: form('a UUID', asUuid, is),
  boolean: form('true or false', asBoolean, is),
  tenant: named('tenant'),
  key: named('key'),
  group: named('group'),
  part: form(
    'text',
    asText,
    (parts, [column]): Test => ({ test: 'contains', column, parts }),
    ' Matches any part of it, case-insensitive.',
  ),
  number: form(
    'a number, or a range such as 100..500, 100.. or ..500',
    (text) => rangeOf(text, asNumber),
    between,
    ' A number, or an inclusive range such as `100..500`, `100..` or `..500`.',
  ),
  usd: form('an amount in USD, or a range such as 0.01..2', (text) => rangeOf(text, asNanoUsd), between),
  status: form('a status such as 404, a class such as 4xx or a range such as 400..499', asStatus, between),
  address: form(
    'an address or a CIDR block',
    readBlock,
    (blocks, [column]): Test => ({ test: 'within', column, blocks }),
  ),
  tag: form('a tag', asText, (tags): Test => ({ test: 'tagged', tags })),
  uncharged: form('true or false', asBoolean, (values): Test => ({ test: 'uncharged', values })),
}

type Declaration = FilterDeclaration & { columns: Columns }
const declarations: Readonly<Record<FilterName, Declaration>> = logFilters

/** The parameter of a filter, which can be given once or several times. */
function parameter({ kind, columns, description }: Declaration, not: boolean) {
  const { read, expected, hint } = forms[kind]
  return z
    .unknown()
    .transform((value, context): Condition => {
      const texts = [value]
        .flat()
        .map((each) =>
          typeof each === 'string' && each.length <= valueLengthMax && isStorable(each) ? each : undefined,
        )
      const known = texts.filter((text) => text !== undefined)
      const test = known.length < texts.length ? undefined : read(known, columns)
      if (texts.length > valuesMax)
        context.addIssue({
          code: 'custom',
          message: `expected at most ${valuesMax} values, got ${texts.length}`,
        })
      else if (test === undefined)
        context.addIssue({
          code: 'custom',
          message: `expected ${expected}, or an empty value for rows without one`,
        })
      else return { not, ...test }
      return z.NEVER
    })
    .meta({
      type: 'array',
      items: { type: 'string', maxLength: valueLengthMax },
      maxItems: valuesMax,
      description: not
        ? `Excludes the rows that the filter without \`not_\` would show.`
        : `${description}${hint}`,
    })
    .optional()
}

type Parameters = Readonly<Record<string, ReturnType<typeof parameter>>>

function parametersFor(isOffered: (declaration: FilterDeclaration) => boolean): Parameters {
  return Object.fromEntries(
    Object.entries(declarations).flatMap(([name, each]) =>
      isOffered(each)
        ? [
            [name, parameter(each, false)],
            [`not_${name}`, parameter(each, true)],
          ]
        : [],
    ),
  )
}

/** For the query of an endpoint, next to its other parameters. */
export const filterParameters = parametersFor(() => true)
/** The filters for clients that read the log with their key: none for groups or the upstream. */
export const clientFilterParameters = parametersFor((declaration) => declaration.for === 'clients')

/** Only the filters. */
export const filterQuery = z.strictObject(filterParameters)

/** A parameter that reads a filter in a narrower form. */
export function narrowFilter(name: FilterName, schema: z.ZodType<string | string[], unknown>) {
  const { kind, columns } = declarations[name]
  return schema.transform((value): Condition => {
    const test = forms[kind].read([value].flat(), columns)
    if (test === undefined) throw new Error(`the form of "${name}" accepts more than the filter does`)
    return { not: false, ...test }
  })
}

/** Returns the filter of a query with parameters of filters. Other parameters are ignored. */
export function filterFrom(query: Partial<Record<string, unknown>>): LogFilter {
  const names = filterNames.flatMap((name) => [name, `not_${name}`])
  return { conditions: names.map((name) => query[name]).filter(isCondition) }
}

function isCondition(value: unknown): value is Condition {
  return typeof value === 'object' && value !== null && 'test' in value && 'not' in value
}
