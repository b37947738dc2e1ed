import type { RowOf } from '../../journal/column.ts'
import type { requestColumns } from '../../journal/row.ts'

/** A row of the usage log with all its columns. */
export type LogRow = RowOf<(typeof requestColumns)[number]>
export type LogColumn = keyof LogRow

/** A row matches if all conditions are true. Conditions can be combined freely. */
export interface LogFilter {
  readonly conditions: readonly Condition[]
}

/** `not` selects the rows for which the test is not true, including rows whose column has no value. */
export type Condition = { readonly not: boolean } & Test

/** A null among the values matches a column without a value. */
export type Test =
  /** One of the columns has one of the values. */
  | {
      readonly test: 'is'
      readonly columns: readonly LogColumn[]
      readonly values: readonly (Value | null)[]
    }
  /**
   * The row's tenant, key or group has, or had, one of these names. `withIds` converts this to an `is` test.
   */
  | { readonly test: 'named'; readonly kind: NamedKind; readonly names: readonly (string | null)[] }
  /** The text contains one of these parts, ignoring case. */
  | { readonly test: 'contains'; readonly column: LogColumn; readonly parts: readonly (string | null)[] }
  /** The number is in one of the ranges. */
  | { readonly test: 'between'; readonly column: LogColumn; readonly ranges: readonly (Range | null)[] }
  /** Whether part of the cost was not charged. Null: its cost is unknown. */
  | { readonly test: 'uncharged'; readonly values: readonly (boolean | null)[] }
  /** The address is in one of these CIDR blocks or is one of these addresses. */
  | { readonly test: 'within'; readonly column: LogColumn; readonly blocks: readonly (string | null)[] }
  /** The row has all these tags; with `not`, it has none of them. */
  | { readonly test: 'tagged'; readonly tags: readonly (string | null)[] }

export type Value = string | number | boolean

export type NamedKind = 'tenant' | 'key' | 'group'

/** Both ends are inclusive; undefined means that there is no such end. */
export interface Range {
  readonly least: bigint | undefined
  readonly most: bigint | undefined
}

/** The rows that a caller can see. */
export interface RowScope {
  tenantId: string
  /** Null: all keys of the tenant. */
  keyId: string | null
}

/** The filter, restricted to the rows that a caller can see. */
export function inScope({ conditions }: LogFilter, { tenantId, keyId }: RowScope): LogFilter {
  const is = (column: LogColumn, id: string): Condition => {
    return { not: false, test: 'is', columns: [column], values: [id] }
  }
  const ofKey = keyId === null ? [] : [is('key_id', keyId)]
  return { conditions: [is('tenant_id', tenantId), ...ofKey, ...conditions] }
}

/** How tests are written in a language: SQL of Postgres or of DuckDB, or a function of a row in memory. */
export interface Dialect<Piece> {
  isNull(column: LogColumn): Piece
  /** There is at least one value. */
  isOneOf(column: LogColumn, values: readonly Value[]): Piece
  contains(column: LogColumn, part: string): Piece
  isBetween(column: LogColumn, range: Range): Piece
  isWithin(column: LogColumn, block: string): Piece
  /** Rows from before charges were recorded have none; their charge was the cost. */
  isUncharged(value: boolean | null): Piece
  hasTags(tags: readonly string[]): Piece
  hasNoTags: Piece
  /** False if there are no pieces. */
  any(pieces: readonly Piece[]): Piece
  /** True if there are no pieces. */
  all(pieces: readonly Piece[]): Piece
  /** True where the piece is false or NULL. */
  isNotTrue(piece: Piece): Piece
}

/**
 * The conditions of a filter, all of which must hold. A piece can be NULL, which selects no row. `withIds`
 * must have been called.
 */
export function piecesOf<Piece>(dialect: Dialect<Piece>, { conditions }: LogFilter): Piece[] {
  return conditions.map((condition) => {
    if (!condition.not) return testOf(dialect, condition)
    // Without `not`, a row must have all of the tags.
    const tests =
      condition.test === 'tagged'
        ? condition.tags.map((tag) => testOf(dialect, { test: 'tagged', tags: [tag] }))
        : [testOf(dialect, condition)]
    return dialect.isNotTrue(dialect.any(tests))
  })
}

function testOf<Piece>(dialect: Dialect<Piece>, test: Test): Piece {
  const anyOf = <One>(column: LogColumn, values: readonly (One | null)[], piece: (value: One) => Piece) =>
    dialect.any(values.map((value) => (value === null ? dialect.isNull(column) : piece(value))))
  switch (test.test) {
    case 'is': {
      const known = test.values.filter((value) => value !== null)
      return dialect.any(
        test.columns.flatMap((column) => [
          ...(known.length === 0 ? [] : [dialect.isOneOf(column, known)]),
          ...(known.length === test.values.length ? [] : [dialect.isNull(column)]),
        ]),
      )
    }
    case 'named':
      throw new Error(`the names in a ${test.kind} test have not been resolved: call withIds first`)
    case 'contains':
      return anyOf(test.column, test.parts, (part) => dialect.contains(test.column, part))
    case 'between':
      return anyOf(test.column, test.ranges, (range) => dialect.isBetween(test.column, range))
    case 'uncharged':
      return dialect.any(test.values.map((value) => dialect.isUncharged(value)))
    case 'within':
      return anyOf(test.column, test.blocks, (block) => dialect.isWithin(test.column, block))
    case 'tagged': {
      const tags = test.tags.filter((tag) => tag !== null)
      return dialect.all([
        ...(tags.length === 0 ? [] : [dialect.hasTags(tags)]),
        ...(tags.length === test.tags.length ? [] : [dialect.hasNoTags]),
      ])
    }
  }
}
