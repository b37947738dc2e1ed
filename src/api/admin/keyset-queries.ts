import {
  and,
  asc,
  desc,
  eq,
  gt,
  is,
  isNotNull,
  isNull,
  lt,
  or,
  type PgColumn,
  SQL,
  sql,
} from '../../db/drizzle.cjs'
import { momentAt, noCursor, type PagePosition, type SortOrder } from './list.ts'

/**
 * Returns the order of a list and the condition for the page after `place`. `columns` are those that the list
 * can be sorted by; null sorts last. An SQL expression is an amount in whole numbers of any size. Any other
 * sort is by `id`, because version 7 UUIDs are in chronological order.
 */
export function keyset(
  { by, descending }: SortOrder,
  { columns, id }: { columns: Readonly<Record<string, PgColumn | SQL>>; id: PgColumn },
  place: PagePosition | undefined,
): { orderBy: SQL[]; behind: SQL | undefined } {
  const order = descending ? desc : asc
  const later = descending ? lt : gt
  const sorted = columns[by]
  if (sorted === undefined)
    return { orderBy: [order(id)], behind: place === undefined ? undefined : later(id, place.id) }
  const column = sql`${sorted}`
  const orderBy = [asc(sql`(${column} IS NULL)`), order(column), order(id)]
  if (place === undefined) return { orderBy, behind: undefined }
  if (place.value === null) return { orderBy, behind: and(isNull(column), later(id, place.id)) }
  const value = valueIn(sorted, place)
  const isTie = and(eq(column, value), later(id, place.id))
  return { orderBy, behind: or(and(isNotNull(column), later(column, value)), isTie, isNull(column)) }
}

/** Throws `invalid_request` for a value that the column cannot have. */
function valueIn(column: PgColumn | SQL, place: PagePosition): SQL {
  const { value } = place
  if (is(column, SQL)) {
    if (typeof value !== 'string' || !/^-?\d{1,40}$/.test(value)) throw noCursor()
    return sql`${value}::numeric`
  }
  if (column.dataType === 'date') return sql`${sql.param(momentAt(place), column)}`
  if (column.dataType === 'string' && typeof value !== 'string') throw noCursor()
  return sql`${sql.param(value, column)}`
}

/** Whether a name contains this text, ignoring case. */
export function hasText(column: PgColumn, search: string | undefined): SQL | undefined {
  return search === undefined ? undefined : sql`position(lower(${search}) in lower(${column})) > 0`
}

/**
 * Matches a row by its id or name. If a name looks like the id of another row, the id takes precedence; see
 * `idFirst`.
 */
export function isCalled({ id, name }: { id: PgColumn; name: PgColumn }, called: string): SQL | undefined {
  return uuid.test(called) ? or(eq(id, called), eq(name, called)) : eq(name, called)
}

export function idFirst(id: PgColumn, called: string): SQL {
  return desc(sql`(${id}::text = lower(${called}))`)
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
