import type postgres from 'postgres'
import { addressTest } from './address-test.ts'
import type { AdminFilter, Condition, LogColumn, Range, Test } from './row-tests.ts'

type Piece = postgres.Fragment

/**
 * The conditions of a filter as SQL. Each is either true or not, never unknown. `withIds` must have been
 * called.
 */
export function conditionsOf(sql: postgres.Sql, { conditions }: AdminFilter): Piece[] {
  return conditions.map((condition) => conditionOf(sql, condition))
}

function conditionOf(sql: postgres.Sql, condition: Condition): Piece {
  if (condition.test === 'tagged' && condition.not) {
    const tests = condition.tags.map((tag) => testOf(sql, { test: 'tagged', tags: [tag] }))
    return sql`(${either(sql, tests)}) is not true`
  }
  const test = testOf(sql, condition)
  return condition.not ? sql`(${test}) is not true` : sql`(${test})`
}

/** Can be true, false or NULL. */
function testOf(sql: postgres.Sql, test: Test): Piece {
  switch (test.test) {
    case 'is':
      return either(
        sql,
        test.columns.map((column) => isOneOf(sql, column, test.values)),
      )
    case 'named':
      throw new Error(`the names in a ${test.kind} test have not been resolved: call withIds first`)
    case 'contains':
      return either(
        sql,
        test.parts.map((part) =>
          withNull(sql, test.column, part, (column, text) => sql`${column} ilike ${like(text)}`),
        ),
      )
    case 'between':
      return either(
        sql,
        test.ranges.map((range) =>
          withNull(sql, test.column, range, (column, known) => between(sql, column, known)),
        ),
      )
    case 'uncharged': {
      // Rows from before charges were recorded have none; their charge was the cost.
      const isUncharged = sql`(cost_nano > coalesce(charged_nano, cost_nano))`
      return either(
        sql,
        test.values.map((value) =>
          value === null ? sql`${isUncharged} is null` : sql`${isUncharged} = ${value}`,
        ),
      )
    }
    case 'within':
      return either(
        sql,
        test.blocks.map((block) =>
          withNull(sql, test.column, block, (column, known) => within(sql, column, known)),
        ),
      )
    case 'tagged': {
      const tags = test.tags.filter((tag) => tag !== null)
      const none = test.tags.includes(null) ? sql`and coalesce(cardinality(tags), 0) = 0` : sql``
      return tags.length === 0 ? sql`true ${none}` : sql`tags @> ${tags}::text[] ${none}`
    }
  }
}

function isOneOf(
  sql: postgres.Sql,
  name: LogColumn,
  values: readonly (string | number | boolean | null)[],
): Piece {
  const column = sql(name)
  const known = values.filter((value) => value !== null)
  const [only] = known
  const isNull = values.includes(null) ? [sql`${column} is null`] : []
  if (only === undefined) return either(sql, isNull)
  // With a single value, an index returns the rows in list order.
  const equals = known.length === 1 ? sql`${column} = ${only}` : sql`${column} in ${sql(known)}`
  return either(sql, [equals, ...isNull])
}

function withNull<Value>(
  sql: postgres.Sql,
  name: LogColumn,
  value: Value | null,
  test: (column: postgres.Helper<string>, value: Value) => Piece,
): Piece {
  const column = sql(name)
  return value === null ? sql`${column} is null` : test(column, value)
}

function like(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`
}

function between(sql: postgres.Sql, column: postgres.Helper<string>, { least, most }: Range): Piece {
  const from = least === undefined ? sql`${column} is not null` : sql`${column} >= ${String(least)}::bigint`
  const to = most === undefined ? sql`` : sql`and ${column} <= ${String(most)}::bigint`
  return sql`(${from} ${to})`
}

function within(sql: postgres.Sql, column: postgres.Helper<string>, block: string): Piece {
  const test = addressTest(block)
  if (test.kind === 'address') return sql`${column} = ${test.address}`
  const begins = sql`${column} like ${`${test.prefix}%`}`
  switch (test.kind) {
    case 'prefix':
      return begins
    case 'octet':
      return sql`(${begins} and case when ${column} ~ '^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+$'
        then split_part(${column}, '.', ${test.octet}::integer)::integer between ${test.least}::integer and ${test.most}::integer
        else false end)`
    case 'inet':
      return sql`(${begins} and case when ${column} ~ '^[0-9a-f:]*:[0-9a-f:]*:[0-9a-f:]*$'
        then ${column}::inet <<= ${test.block}::inet else false end)`
  }
}

/** False if there are no pieces. */
export function either(sql: postgres.Sql, pieces: readonly Piece[]): Piece {
  const [only] = pieces
  if (only === undefined) return sql`false`
  if (pieces.length === 1) return only
  return sql`(${joined(sql, pieces, sql`or`)})`
}

export function joined(sql: postgres.Sql, pieces: readonly Piece[], between: Piece): Piece {
  return sql`${pieces.flatMap((piece, index) => (index === 0 ? [piece] : [between, piece]))}`
}
