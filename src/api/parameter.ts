import { z } from 'zod'
import { expected } from '../canonical/checked.ts'
import { anyOf, quoted } from '../canonical/field-error.ts'
import { earliestMs, latestMs } from '../db/moments.ts'

// Types of query parameters, all of which arrive as text.

/** Express passes a list if a parameter occurs more than once. */
const once = z.string({
  error: ({ input }) => (Array.isArray(input) ? 'given more than once' : 'expected a string'),
})

/** For endpoints without parameters: any parameter is refused. */
export const noParameters = z.strictObject({})

const textLengthMax = 256

/** Text that Postgres can compare with a name. */
export const text = once.refine(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Postgres cannot store NUL, and names contain none of the others.
  (value) => value !== '' && value.length <= textLengthMax && !/[\x00-\x1f]/.test(value),
  expected(`1 to ${textLengthMax} characters without control characters`),
)

export function wholeNumber(least: number, most: number) {
  return once
    .refine(
      (value) => /^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most,
      expected(`a whole number from ${least} to ${most}`),
    )
    .transform(Number)
    .meta({ type: 'integer', minimum: least, maximum: most })
}

export function oneOfWords<const Words extends readonly string[]>(words: Words) {
  return z.enum(words, {
    error: ({ input }) =>
      typeof input === 'string' ? `expected ${anyOf(words)}, got ${quoted(input)}` : 'given more than once',
  })
}

const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The id of a request or a job, converted to lower case. */
export function id(what: string) {
  return once
    .refine((value) => isId(value.toLowerCase()), expected(what))
    .transform((value) => value.toLowerCase())
    .meta({ format: 'uuid' })
}

export function isId(value: string): boolean {
  return uuidv7.test(value)
}

const timestamp = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/
const day = /^\d{4}-\d\d-\d\d$/
const dayMs = 86_400_000

/** A date alone means its first moment or its end, which is the first moment of the next day. */
export function moment(ofDay: 'first moment' | 'end') {
  return once
    .refine(isMoment, expected('a time such as 2026-11-21T09:30:00Z or a date such as 2026-11-21'))
    .transform((value) => {
      const read = dateOf(value).getTime()
      const ms = ofDay === 'end' && day.test(value) ? read + dayMs : read
      return new Date(Math.min(Math.max(ms, earliestMs), latestMs))
    })
    .meta({ examples: ['2026-11-21T09:30:00Z', '2026-11-21'] })
}

function isMoment(value: string): boolean {
  if (!day.test(value) && !timestamp.test(value)) return false
  // JavaScript would read 30 February as 2 March.
  const midnight = new Date(value.slice(0, 10))
  const isReal = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(value.slice(0, 10))
  return isReal && !Number.isNaN(dateOf(value).getTime())
}

function dateOf(value: string): Date {
  return new Date(value.toUpperCase().replace(' ', 'T'))
}
