import {
  and,
  asc,
  desc,
  eq,
  gt,
  isNotNull,
  isNull,
  lt,
  or,
  type PgColumn,
  type SQL,
  sql,
} from '../../db/drizzle.cjs'
import { momentAt, noCursor, type PagePosition, type SortOrder } from './list.ts'

/**
 * Returns the order of a list and the condition for the page after `place`. `columns` are those that the list
 * can be sorted by; null sorts last. Any other sort is by `id`, because version 7 UUIDs are in chronological
 * order.
 */
export function keyset(
  { by, descending }: SortOrder,
  { columns, id }: { columns: Readonly<Record<string, PgColumn>>; id: PgColumn },
  place: PagePosition | undefined,
): { orderBy: SQL[]; behind: SQL | undefined } {
  const order = descending ? desc : asc
  const later = descending ? lt : gt
  const column = columns[by]
  if (column === undefined)
    return { orderBy: [order(id)], behind: place === undefined ? undefined : later(id, place.id) }
  const orderBy = [asc(sql`(${column} IS NULL)`), order(column), order(id)]
  if (place === undefined) return { orderBy, behind: undefined }
  if (place.value === null) return { orderBy, behind: and(isNull(column), later(id, place.id)) }
  const value = column.dataType === 'date' ? momentAt(place) : place.value
  if (column.dataType === 'string' && typeof value !== 'string') throw noCursor()
  const isTie = and(eq(column, value), later(id, place.id))
  return { orderBy, behind: or(and(isNotNull(column), later(column, value)), isTie, isNull(column)) }
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
