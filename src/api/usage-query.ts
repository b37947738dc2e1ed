import { z } from 'zod'
import { expected } from '../canonical/checked.ts'
import { invalid } from '../canonical/field-error.ts'
import { isKnownToPostgres } from '../db/moments.ts'
import { tagList } from '../journal/column.ts'
import { momentOf } from '../journal/tuple.ts'
import type { Position } from '../usage/queries.ts'
import { clientFilterParameters, narrowFilter } from './log-filter.ts'
import { id, isId, moment, oneOfWords, text, wholeNumber } from './parameter.ts'

const model = narrowFilter('model', text).optional().describe('The model, as requested or as served.')
const times = {
  from: moment('first moment').optional().describe('Only requests from this time on.'),
  to: moment('end').optional().describe('Only requests before this time. A date includes the whole day.'),
}

const status = z
  .string({ error: 'given more than once' })
  .regex(/^[1-5](?:\d\d|[xX]{2})$/, expected('a status such as 404 or a class such as 4xx'))

const cursor = z
  .string({ error: 'given more than once' })
  .refine((value) => positionAt(value) !== undefined, expected('the next_cursor of the previous page'))
  .transform(positionAt)

/** Each tag is a text; the parameter can be given once or several times. */
const tags = z
  .unknown()
  .transform((value, context): string[] => {
    const all = [value].flat()
    const wrong = all.map((tag) => text.safeParse(tag)).find(({ success }) => !success)
    const problem =
      all.length > tagList.countMax
        ? `expected at most ${tagList.countMax} tags, got ${all.length}`
        : wrong?.error?.issues[0]?.message
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
    return all.map(String)
  })
  .meta({ type: 'array', items: { type: 'string' }, maxItems: tagList.countMax })

const listed = {
  ...times,
  model,
  status: narrowFilter('status', status)
    .optional()
    .describe('A status such as `429` or a class such as `4xx`.'),
  outcome: narrowFilter(
    'outcome',
    oneOfWords(['succeeded', 'refused', 'failed', 'cancelled', 'orphaned']),
  ).optional(),
  endpoint: narrowFilter('endpoint', text).optional().describe('The path that was called.'),
  request_id: narrowFilter('request_id', id('the id of a request, as in x-request-id')).optional(),
  end_user: narrowFilter('end_user', text).optional().describe('The end user that the client named.'),
  session: narrowFilter('session', text).optional().describe('The conversation or agent run.'),
  tag: narrowFilter('tag', tags)
    .optional()
    .describe('A tag of the request. With several tags, a request must have all of them.'),
  cursor: cursor.optional().describe('The `next_cursor` of the previous page.'),
  limit: wholeNumber(1, 200).default(50).describe('The maximum number of rows per page.'),
}

/** The filters in addition to those with an index, which the list reads in a form of its own. */
const more = Object.fromEntries(Object.entries(clientFilterParameters).filter(([name]) => !(name in listed)))

/** The parameters of the list. */
export const requestQuery = z
  .strictObject({ ...listed, ...more })
  .refine(isInOrder, { path: ['to'], error: 'expected a time after "from"' })

/** Whether rows must be searched, because no index has them in the order of the list. */
export function needsWalk(query: object): boolean {
  return Object.entries(query).some(([name, value]) => name in more && value !== undefined)
}

/** The parameters of the totals. */
export const summaryQuery = z
  .strictObject({
    from: times.from.describe(
      'The start of the period. Default: the start of the hour 30 days before `to`. At most 92 days before `to`.',
    ),
    to: times.to.describe('The end of the period. Default: now. A date includes the whole day.'),
    model,
  })
  .refine(isInOrder, { path: ['to'], error: 'expected a time after "from"' })

const summaryDays = 30
const summaryDaysMax = 92
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Returns the period of the totals; its end is exclusive. Throws `invalid_request` if it is too long. */
export function usageRange(query: z.output<typeof summaryQuery>, nowMs: number): { from: Date; to: Date } {
  const to = query.to ?? new Date(nowMs)
  const from = query.from ?? new Date(Math.floor((to.getTime() - summaryDays * dayMs) / hourMs) * hourMs)
  if (!isInOrder({ from, to })) throw invalid('to', 'expected a time after "from"')
  if (to.getTime() - from.getTime() <= summaryDaysMax * dayMs) return { from, to }
  throw invalid('from', `expected at most ${summaryDaysMax} days before "to", got "${from.toISOString()}"`)
}

function isInOrder({ from, to }: { from?: Date | undefined; to?: Date | undefined }): boolean {
  return from === undefined || to === undefined || from < to
}

/** The position of the next page, opaque to clients. */
export function positionCursor({ createdAt, id }: Position): string {
  return Buffer.from(`${createdAt.toISOString()} ${id}`).toString('base64url')
}

/**
 * The position at which a walk continues: the id of a row, or the lowest id of a moment, which we write as a
 * version 7 id.
 */
export function cursorAfterWalk(id: string): string {
  const lowest = id.replace(/-0000-0000-0{12}$/, '-7000-8000-000000000000')
  return positionCursor({ createdAt: new Date(momentOf(id)), id: lowest })
}

function positionAt(value: string): Position | undefined {
  const [time = '', last = ''] = Buffer.from(value, 'base64url').toString('latin1').split(' ')
  const createdAt = new Date(time)
  if (!isId(last) || !isKnownToPostgres(createdAt)) return undefined
  return positionCursor({ createdAt, id: last }) === value ? { createdAt, id: last } : undefined
}
