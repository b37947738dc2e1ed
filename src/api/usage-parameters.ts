import { GatewayError } from '../canonical/error.ts'
import { tagList } from '../ledger/column.ts'
import type { Position, RequestFilter } from '../ledger/queries.ts'

export interface ListParameters {
  filter: RequestFilter
  after: Position | undefined
  /** 1 to 200; default 50. */
  limit: number
}

/** What a client may ask of the list. Throws GatewayError `invalid_request` naming the parameter. */
export function listParameters({ tag, ...query }: Query): ListParameters {
  const given = readQuery(query, [
    ...times,
    'model',
    'status',
    'outcome',
    'endpoint',
    'request_id',
    'end_user',
    'session',
    'tag',
    'cursor',
    'limit',
  ])
  const { from, to, model, status, outcome, endpoint, request_id: requestId, cursor, limit } = given
  const { end_user: endUser, session } = given
  const filter: RequestFilter = {}
  if (from !== undefined) filter.from = moment('from', from)
  if (to !== undefined) filter.to = moment('to', to)
  if (model !== undefined) filter.model = model
  if (status !== undefined) filter.statusRange = statusRange(status)
  if (outcome !== undefined) filter.outcome = oneOf('outcome', outcome, outcomes)
  if (endpoint !== undefined) filter.endpoint = endpoint
  if (requestId !== undefined) filter.requestId = id(requestId)
  if (endUser !== undefined) filter.endUser = endUser
  if (session !== undefined) filter.session = session
  if (tag !== undefined) filter.tags = tagsOf(tag)
  requireOrder(filter.from, filter.to)
  return {
    filter,
    after: cursor === undefined ? undefined : position(cursor),
    limit: limit === undefined ? limitDefault : wholeNumber('limit', limit, 1, limitMax),
  }
}

/** Default: the last 30 days. `to` is the end of what is counted. */
export function summaryParameters(query: Query, nowMs: number): { from: Date; to: Date; model?: string } {
  const { from, to, model } = readQuery(query, [...times, 'model'])
  const end = to === undefined ? new Date(nowMs) : moment('to', to)
  const start = from === undefined ? new Date(end.getTime() - summaryDays * dayMs) : moment('from', from)
  requireOrder(start, end)
  if (end.getTime() - start.getTime() > summaryDaysMax * dayMs) {
    throw wrong('from', `at most ${summaryDaysMax} days before "to"`, from ?? '')
  }
  return { from: start, to: end, ...(model === undefined ? {} : { model }) }
}

/** For paths that have none. */
export function refuseParameters(query: Query): void {
  readQuery(query, [])
}

/** Opaque to clients: where the next page begins. */
export function cursorFor(row: { created_at: Date; id: string }): string {
  return Buffer.from(`${row.created_at.toISOString()} ${row.id}`).toString('base64url')
}

type Query = Readonly<Record<string, unknown>>

const times = ['from', 'to'] as const
const outcomes = ['succeeded', 'refused', 'failed', 'cancelled', 'orphaned'] as const
const limitDefault = 50
const limitMax = 200
const summaryDays = 30
const summaryDaysMax = 92
const dayMs = 86_400_000
const textLengthMax = 256

function readQuery<Name extends string>(query: Query, names: readonly Name[]): Partial<Record<Name, string>> {
  const given: Partial<Record<Name, string>> = {}
  for (const [key, value] of Object.entries(query)) {
    const name = names.find((known) => known === key)
    if (name === undefined) {
      const known = names.length === 0 ? 'no parameters' : `one of ${names.join(', ')}`
      throw new GatewayError('invalid_request', `${shown(key)}: unknown parameter, expected ${known}`, {
        field: shown(key),
      })
    }
    if (typeof value !== 'string') {
      throw new GatewayError('invalid_request', `${name}: given more than once`, { field: name })
    }
    given[name] = text(name, value)
  }
  return given
}

/** It may be given more than once: all of them are meant. */
function tagsOf(tag: unknown): string[] {
  const tags = (Array.isArray(tag) ? tag : [tag]).map((each) => text('tag', String(each)))
  if (tags.length <= tagList.countMax) return tags
  throw wrong('tag', `at most ${tagList.countMax} of them`, String(tags.length))
}

function text(name: string, value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Postgres takes no NUL, and no name has the others.
  if (value !== '' && value.length <= textLengthMax && !/[\x00-\x1f]/.test(value)) return value
  throw wrong(name, `1 to ${textLengthMax} characters without control characters`, value)
}

const timestamp = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

/** A day alone is its first moment as `from` and its end as `to`. */
function moment(name: 'from' | 'to', text: string): Date {
  const expected = 'a moment such as 2026-11-21T09:30:00Z or a day such as 2026-11-21'
  const [day] = /^\d{4}-\d\d-\d\d$/.exec(text) ?? []
  if (day === undefined && !timestamp.test(text)) throw wrong(name, expected, text)
  const parsed = new Date(text.toUpperCase().replace(' ', 'T'))
  // JavaScript takes 30 February for 2 March.
  const midnight = new Date(text.slice(0, 10))
  const isReal = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text.slice(0, 10))
  if (Number.isNaN(parsed.getTime()) || !isReal) throw wrong(name, expected, text)
  return day !== undefined && name === 'to' ? new Date(parsed.getTime() + dayMs) : parsed
}

function statusRange(text: string): { least: number; most: number } {
  const group = /^([1-5])xx$/i.exec(text)?.[1]
  if (group !== undefined) return { least: Number(group) * 100, most: Number(group) * 100 + 99 }
  if (!/^[1-5]\d\d$/.test(text)) throw wrong('status', 'a status such as 404 or a class such as 4xx', text)
  return { least: Number(text), most: Number(text) }
}

function oneOf<Value extends string>(name: string, text: string, values: readonly Value[]): Value {
  const value = values.find((known) => known === text)
  if (value === undefined) throw wrong(name, `one of ${values.join(', ')}`, text)
  return value
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (!/^\d{1,9}$/.test(text) || value < least || value > most) {
    throw wrong(name, `a whole number from ${least} to ${most}`, text)
  }
  return value
}

const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

function id(text: string): string {
  const lower = text.toLowerCase()
  if (!uuidv7.test(lower)) throw wrong('request_id', "a request's id, as x-request-id has it", text)
  return lower
}

function position(cursor: string): Position {
  const [time = '', last = ''] = Buffer.from(cursor, 'base64url').toString('latin1').split(' ')
  const createdAt = new Date(time)
  if (
    !uuidv7.test(last) ||
    Number.isNaN(createdAt.getTime()) ||
    cursorFor({ created_at: createdAt, id: last }) !== cursor
  ) {
    throw wrong('cursor', 'next_cursor of the page before', cursor)
  }
  return { createdAt, id: last }
}

function requireOrder(from: Date | undefined, to: Date | undefined): void {
  if (from !== undefined && to !== undefined && from >= to) {
    throw new GatewayError('invalid_request', 'to: expected a time after "from"', { field: 'to' })
  }
}

function wrong(name: string, expected: string, got: string): GatewayError {
  return new GatewayError('invalid_request', `${name}: expected ${expected}, got "${shown(got)}"`, {
    field: name,
  })
}

/** Enough to recognise it, and nothing that breaks a line. */
function shown(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 40)
}
