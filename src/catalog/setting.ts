import { z } from 'zod'
import { readBlock } from '../canonical/address-blocks.ts'
import { hiddenInputMax } from '../protocols/hidden-input.ts'
import type { Budget } from './limit-columns.ts'
import type { RateLimits } from './snapshot.ts'
import { nanoFromUsd } from './usd.ts'

// Types of values that occur in several places of gateway.yaml or need their own messages.

/** The common start of messages, which state what the setting must be. */
export const mustBe = (what: string) => `must be ${what}`

export const name = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax)
    .regex(/^[^\p{C}]+$/u, mustBe(`a name of 1 to ${charactersMax} visible characters`))

/** Paths of request members in the form used by refusals: `messages[].content[].file_url`. */
export const plainMembers = z
  .array(name(256))
  .max(hiddenInputMax)
  .refine((paths) => new Set(paths).size === paths.length, { error: 'must not name a member twice' })
  .default([])

/** Text for people to read. Postgres cannot store NUL or lone surrogates. */
export const description = z
  .string()
  .refine((text) => text.length <= 1_000 && text.isWellFormed() && !text.includes('\0'), {
    error: mustBe('at most 1000 characters of text'),
  })

export const wholeNumber = (least: number, most: number) => z.int().min(least).max(most)

/** Decimals should be quoted; numbers are accepted too, as written. */
const decimalText = z
  .union([z.string(), z.number()], { error: mustBe('a decimal, such as "2.50"') })
  .transform(String)

export const usd = decimalText.transform((text, context) => {
  const amount = nanoFromUsd(text)
  if (amount !== undefined) return amount
  const message = mustBe('USD as a plain decimal with at most 9 decimals, such as "2.50"')
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

export const multiplier = decimalText.refine((text) => /^\d{1,4}(\.\d{1,9})?$/.test(text), {
  error: mustBe('a decimal from 0 to 9999 with at most 9 decimals, such as "1.2"'),
})

const blockText = mustBe('an address block, such as 10.0.0.0/8')

export const cidr = z.string().transform((text, context) => {
  const block = readBlock(text)
  if (block !== undefined) return block
  context.addIssue({ code: 'custom', message: blockText })
  return z.NEVER
})

export const privateAddress = z
  .union([z.boolean(), z.array(z.string()).min(1)], {
    error: mustBe('true, false or a list of address blocks, such as [10.0.0.0/8]'),
  })
  .transform((allowed, context) => {
    if (typeof allowed === 'boolean') return allowed
    return allowed.map((text, index) => {
      const block = readBlock(text)
      if (block === undefined) context.addIssue({ code: 'custom', path: [index], message: blockText })
      return block ?? text
    })
  })

export const expiry = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: mustBe('a date, or a time with a time zone, such as 2027-01-31 or 2027-01-31T12:00:00Z'),
  })
  .transform((text) => new Date(text))

const bound = wholeNumber(1, 2_147_483_647).optional()

export const limits = z
  .strictObject({ requests_per_minute: bound, tokens_per_minute: bound, concurrency: bound })
  .transform(
    (l): RateLimits => ({
      requestsPerMinute: l.requests_per_minute,
      tokensPerMinute: l.tokens_per_minute,
      concurrency: l.concurrency,
    }),
  )

/** The limits of a key. There must be at least one, because a row without limits uses those of its group. */
export const ownLimits = limits
  .refine(boundsSomething, {
    error: mustBe('a map with at least one limit; omit it to use the limits of the group'),
    when: isFaultless,
  })
  .optional()

export const budget = z
  .strictObject({ day: usd.optional(), month: usd.optional(), total: usd.optional() })
  .transform(({ day, month, total }): Budget => ({ day, month, total }))
  .refine(boundsSomething, { error: mustBe('a map with day, month or total'), when: isFaultless })
  .optional()

/** If the only setting of a map is misspelt, only that is reported. */
function isFaultless({ issues }: { issues: readonly unknown[] }): boolean {
  return issues.length === 0
}

function boundsSomething(bounds: RateLimits | Budget): boolean {
  return Object.values(bounds).some((each) => each !== undefined)
}
