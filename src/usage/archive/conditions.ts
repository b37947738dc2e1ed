import { addressTest } from '../log/address-test.ts'
import { type Dialect, type LogFilter, piecesOf } from '../log/row-tests.ts'
import { allOf, condition, type SqlCondition } from './where.ts'

/** The conditions of a filter as SQL of DuckDB. `withIds` must have been called. */
export function rowsMatching(filter: LogFilter): SqlCondition {
  return allOf(piecesOf(duckdb, filter))
}

const isUncharged = '(cost_nano > coalesce(charged_nano, cost_nano))'

const duckdb: Dialect<SqlCondition> = {
  isNull: (column) => condition(`${named(column)} IS NULL`),
  isOneOf: (column, values) => anyOf(values.map((value) => condition(`${named(column)} = ?`, value))),
  contains: (column, part) => condition(`contains(lower(${named(column)}), lower(?))`, part),
  isBetween(name, { least, most }) {
    const column = named(name)
    const from = least === undefined ? condition(`${column} IS NOT NULL`) : condition(`${column} >= ?`, least)
    return most === undefined ? from : allOf([from, condition(`${column} <= ?`, most)])
  },
  isWithin: (column, block) => isWithin(named(column), addressTest(block)),
  isUncharged: (value) =>
    value === null ? condition(`${isUncharged} IS NULL`) : condition(`${isUncharged} = ?`, value),
  hasTags: (tags) => condition('list_has_all(tags, ?)', tags),
  hasNoTags: condition('coalesce(len(tags), 0) = 0'),
  any: anyOf,
  all: allOf,
  isNotTrue: ({ text, parameters }) => condition(`(${text}) IS NOT TRUE`, ...parameters),
}

function isWithin(column: string, test: ReturnType<typeof addressTest>): SqlCondition {
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
