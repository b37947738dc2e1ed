import type postgres from 'postgres'
import { addressTest } from './address-test.ts'
import { type Dialect, type LogFilter, piecesOf, type Range } from './row-tests.ts'

type Piece = postgres.Fragment

/** The conditions of a filter as SQL of Postgres. `withIds` must have been called. */
export function conditionsOf(sql: postgres.Sql, filter: LogFilter): Piece[] {
  return piecesOf(dialectOf(sql), filter)
}

function dialectOf(sql: postgres.Sql): Dialect<Piece> {
  const isUncharged = sql`(cost_nano > coalesce(charged_nano, cost_nano))`
  return {
    isNull: (column) => sql`${sql(column)} is null`,
    isOneOf(column, values) {
      const [only] = values
      // With a single value, an index returns the rows in list order.
      return values.length === 1 && only !== undefined
        ? sql`${sql(column)} = ${only}`
        : sql`${sql(column)} in ${sql([...values])}`
    },
    contains: (column, part) => sql`${sql(column)} ilike ${like(part)}`,
    isBetween: (column, range) => between(sql, sql(column), range),
    isWithin: (column, block) => within(sql, sql(column), block),
    isUncharged: (value) => (value === null ? sql`${isUncharged} is null` : sql`${isUncharged} = ${value}`),
    hasTags: (tags) => sql`tags @> ${[...tags]}::text[]`,
    hasNoTags: sql`coalesce(cardinality(tags), 0) = 0`,
    any: (pieces) => (pieces.length === 0 ? sql`false` : sql`(${joined(sql, pieces, sql`or`)})`),
    all: (pieces) => (pieces.length === 0 ? sql`true` : sql`(${joined(sql, pieces, sql`and`)})`),
    isNotTrue: (piece) => sql`${piece} is not true`,
  }
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

export function joined(sql: postgres.Sql, pieces: readonly Piece[], between: Piece): Piece {
  return sql`${pieces.flatMap((piece, index) => (index === 0 ? [piece] : [between, piece]))}`
}
