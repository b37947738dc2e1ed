import type { AddressTest } from '../log/address-test.ts'
import type { AdminFilter, Condition as FilterCondition, Range, Test } from '../log/row-tests.ts'
import { allOf, condition, type SqlCondition } from './where.ts'

/**
 * The rows that match an admin's filter. Names of tenants, keys and groups must have been resolved by
 * `withIds`.
 */
export function adminRows(
  { conditions }: AdminFilter,
  addressTest: (block: string) => AddressTest,
): SqlCondition {
  return allOf(conditions.map((one) => conditionOf(one, addressTest)))
}

function conditionOf(one: FilterCondition, addressTest: (block: string) => AddressTest): SqlCondition {
  if (one.test === 'tagged' && one.not)
    return negated(anyOf(one.tags.map((tag) => testOf({ test: 'tagged', tags: [tag] }, addressTest))))
  const test = testOf(one, addressTest)
  return one.not ? negated(test) : test
}

/** Negates a condition: the result holds where it is false or NULL. */
function negated({ text, parameters }: SqlCondition): SqlCondition {
  return condition(`(${text}) IS NOT TRUE`, ...parameters)
}

function testOf(test: Test, addressTest: (block: string) => AddressTest): SqlCondition {
  switch (test.test) {
    case 'is':
      return anyOf(test.columns.flatMap((column) => test.values.map((value) => isValue(column, value))))
    case 'named':
      throw new Error(`the names in a ${test.kind} test have not been resolved: call withIds first`)
    case 'contains':
      return anyOf(
        test.parts.map((part) =>
          part === null
            ? isNull(test.column)
            : condition(`contains(lower(${named(test.column)}), lower(?))`, part),
        ),
      )
    case 'between':
      return anyOf(
        test.ranges.map((range) => (range === null ? isNull(test.column) : isIn(test.column, range))),
      )
    case 'uncharged': {
      const isUncharged = '(cost_nano > coalesce(charged_nano, cost_nano))'
      return anyOf(
        test.values.map((value) =>
          value === null ? condition(`${isUncharged} IS NULL`) : condition(`${isUncharged} = ?`, value),
        ),
      )
    }
    case 'within':
      return anyOf(
        test.blocks.map((block) =>
          block === null ? isNull(test.column) : isWithin(named(test.column), addressTest(block)),
        ),
      )
    case 'tagged': {
      const tags = test.tags.filter((tag) => tag !== null)
      const parts = tags.length === 0 ? [] : [condition('list_has_all(tags, ?)', tags)]
      return allOf(test.tags.includes(null) ? [...parts, condition('coalesce(len(tags), 0) = 0')] : parts)
    }
  }
}

function isValue(column: string, value: string | number | boolean | null): SqlCondition {
  return value === null ? isNull(column) : condition(`${named(column)} = ?`, value)
}

function isNull(column: string): SqlCondition {
  return condition(`${named(column)} IS NULL`)
}

function isIn(name: string, { least, most }: Range): SqlCondition {
  const column = named(name)
  const from = least === undefined ? condition(`${column} IS NOT NULL`) : condition(`${column} >= ?`, least)
  return most === undefined ? from : allOf([from, condition(`${column} <= ?`, most)])
}

function isWithin(column: string, test: AddressTest): SqlCondition {
  switch (test.kind) {
    case 'address':
      return condition(`${column} = ?`, test.address)
    case 'prefix':
      return condition(`starts_with(${column}, ?)`, test.prefix)
    case 'octet':
      return condition(
        `starts_with(${column}, ?) AND regexp_full_match(${column}, '[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+')
          AND TRY_CAST(split_part(${column}, '.', ?::BIGINT) AS BIGINT) BETWEEN ? AND ?`,
        test.prefix,
        test.octet,
        test.least,
        test.most,
      )
    case 'inet': {
      const { least, most } = hexRange(test.block)
      return condition(
        `starts_with(${column}, ?) AND (${expandedAddress(column)}) BETWEEN ? AND ?`,
        test.prefix,
        least,
        most,
      )
    }
  }
}

/**
 * Expands an IPv6 address to 32 hex digits, which sort and match blocks as the addresses do; NULL for other
 * texts. DuckDB's address type is an extension, and extensions are never loaded.
 */
function expandedAddress(column: string): string {
  const head = `split_part(${column}, '::', 1)`
  const tail = `CASE WHEN contains(${column}, '::') THEN split_part(${column}, '::', 2) ELSE '' END`
  const parts = (text: string) =>
    `CASE WHEN (${text}) = '' THEN []::VARCHAR[] ELSE string_split(${text}, ':') END`
  const padded = (text: string) =>
    `array_to_string(list_transform(${parts(text)}, lambda p: lpad(p, 4, '0')), '')`
  const digits = `concat(${padded(head)}, repeat('0', greatest(0, 32 - len(${padded(head)}) - len(${padded(tail)}))), ${padded(tail)})`
  return `CASE WHEN regexp_full_match(${column}, '[0-9a-f:]*:[0-9a-f:]*:[0-9a-f:]*') THEN ${digits} END`
}

/** The first and last address of an IPv6 block, as 32 hex digits each. */
function hexRange(block: string): { least: string; most: string } {
  const [address = '', bits = '128'] = block.split('/')
  const [head = '', tail] = address.split('::')
  const parts = (text: string) => (text === '' ? [] : text.split(':').map((part) => part.padStart(4, '0')))
  const [first, last] = [parts(head), parts(tail ?? '')]
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0000')
  const value = BigInt(`0x${[...first, ...zeros, ...last].join('')}`)
  const size = 1n << BigInt(128 - Number(bits))
  const least = value - (value % size)
  const hex = (number: bigint) => number.toString(16).padStart(32, '0')
  return { least: hex(least), most: hex(least + size - 1n) }
}

function anyOf(conditions: readonly SqlCondition[]): SqlCondition {
  if (conditions.length === 0) return condition('false')
  return {
    text: conditions.map(({ text }) => `(${text})`).join(' OR '),
    parameters: conditions.flatMap(({ parameters }) => parameters),
  }
}

/** Column names are our own and never come from clients. */
function named(column: string): string {
  if (!/^[a-z][a-z0-9_]*$/.test(column)) throw new Error(`"${column}" is not a valid column name`)
  return `"${column}"`
}
