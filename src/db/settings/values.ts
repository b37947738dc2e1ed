import { z } from 'zod'
import { readBlock } from '../../canonical/address-blocks.ts'
import { hiddenInputMax } from '../../canonical/hidden-input.ts'
import type { Json } from '../../canonical/json.ts'
import { nanoFromUsd } from '../../canonical/usd.ts'

// Types of values that occur in several places of gateway.yaml or need their own messages.

/** The common start of messages, which state what the setting must be. */
export const mustBe = (what: string) => `must be ${what}`

export const name = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax)
    .regex(/^[^\p{C}]+$/u, mustBe(`a name of 1 to ${charactersMax} visible characters`))

/** A size or a quality of images, or the like, as written by clients. */
export const imageWord = name(64)

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

/** Paths of request members in the form used by refusals: `messages[].content[].file_url`. */
export const plainMembers = z
  .array(name(256))
  .max(hiddenInputMax)
  .refine((paths) => new Set(paths).size === paths.length, { error: 'must not name a member twice' })
  .default([])

export const blockText = mustBe('an address block, such as 10.0.0.0/8')

export const cidr = z.string().transform((text, context) => {
  const block = readBlock(text)
  if (block !== undefined) return block
  context.addIssue({ code: 'custom', message: blockText })
  return z.NEVER
})

export const expiry = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: mustBe('a date, or a time with a time zone, such as 2027-01-31 or 2027-01-31T12:00:00Z'),
  })
  .transform((text) => new Date(text))

/** Returns settings under their names in gateway.yaml: `imagesMax` becomes `images_max`. */
export function snakeCased(settings: object): Json {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  )
}
