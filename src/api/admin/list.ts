import { z } from 'zod'
import { expected } from '../../canonical/checked.ts'
import { invalid } from '../../canonical/field-error.ts'
import { isKnownToPostgres } from '../../db/moments.ts'
import { oneOfWords, wholeNumber } from '../parameter.ts'

export const pageRowsMax = 200
const pageRows = 50

const once = z.string({ error: 'given more than once' })

/**
 * The parameters that every list has: `limit`, `cursor` and `sort`. `sorts` are the names that the list can
 * be sorted by, the default first. A minus before a name reverses the order, as in `-created_at`.
 */
export function listParameters<const Sorts extends readonly [string, ...string[]]>(sorts: Sorts) {
  const [first] = sorts
  const words = sorts.flatMap((name) => (name.startsWith('-') ? [name, name.slice(1)] : [name, `-${name}`]))
  return {
    limit: wholeNumber(1, pageRowsMax).default(pageRows).describe('The maximum number of rows per page.'),
    cursor: once.optional().describe('The `next_cursor` of the previous page, with the same `sort`.'),
    sort: oneOfWords(words).default(first).describe('The sort order. A minus before the name reverses it.'),
  }
}

export interface SortOrder {
  /** The name without the minus. */
  by: string
  descending: boolean
}

export function orderOf(sort: string): SortOrder {
  return sort.startsWith('-') ? { by: sort.slice(1), descending: true } : { by: sort, descending: false }
}

/** The position of the next page: after the row with this value and id. */
export interface PagePosition {
  /** The value in the column that the list is sorted by, as JSON; null sorts last. */
  value: string | number | null
  id: string
}

const placeForm = z.tuple([z.string(), z.union([z.string(), z.number(), z.null()]), z.string()])

/** Opaque to clients. */
export function cursorAt(sort: string, { value, id }: PagePosition): string {
  return Buffer.from(JSON.stringify([sort, value, id])).toString('base64url')
}

/** Throws `invalid_request` for a cursor of another sort, or a text that is not a cursor. */
export function placeAt(sort: string, cursor: string | undefined): PagePosition | undefined {
  if (cursor === undefined) return undefined
  const read = placeForm.safeParse(parsed(Buffer.from(cursor, 'base64url').toString('utf8')))
  if (
    !read.success ||
    read.data[0] !== sort ||
    read.data.some((each) => typeof each === 'string' && !isStorable(each))
  )
    throw noCursor()
  const [, value, id] = read.data
  return { value, id }
}

/** Like placeAt, for a list of rows with UUIDs. */
export function rowPlaceAt(sort: string, cursor: string | undefined): PagePosition | undefined {
  const place = placeAt(sort, cursor)
  if (place !== undefined && !uuid.test(place.id)) throw noCursor()
  return place
}

/** Returns the value of a list that is sorted by time. */
export function momentAt({ value }: PagePosition): Date {
  const read = typeof value === 'string' && isoMoment.test(value) ? new Date(value) : undefined
  if (read === undefined || !isKnownToPostgres(read)) throw noCursor()
  return read
}

const isoMoment = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T/

/** For values that cannot have come from a page. */
export function noCursor() {
  return invalid('cursor', 'expected the next_cursor of the previous page, with the same sort')
}

/**
 * Postgres cannot store NUL and lone surrogates. They are refused earlier in a request, but not inside an
 * encoded cursor.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Returns a page of at most `limit` rows and its cursor, from rows of which one more was read. */
export function pageOf<Row>(
  rows: readonly Row[],
  { limit, sort }: { limit: number; sort: string },
  placeOf: (row: Row) => PagePosition,
): { data: Row[]; next_cursor: string | null } {
  const data = rows.slice(0, limit)
  const last = rows.length > limit ? data.at(-1) : undefined
  return { data, next_cursor: last === undefined ? null : cursorAt(sort, placeOf(last)) }
}

/** The schema of a page. */
export function pageSchema<Row extends z.ZodType>(row: Row) {
  return z.object({
    data: z.array(row),
    next_cursor: z.string().nullable().describe('Null on the last page.'),
  })
}

/** A filter by UUID. */
export const uuidText = once
  .refine((text) => uuid.test(text), expected('a UUID'))
  .transform((text) => text.toLowerCase())
  .meta({ format: 'uuid' })

export const isUuid = (text: string) => uuid.test(text)

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
