import { z } from 'zod'
import { expected } from '../../canonical/checked.ts'
import { nanoFromUsd } from '../../canonical/usd.ts'

const noteCharactersMax = 1_000

/**
 * Parses a decimal, with or without a minus sign, as nano-USD. Returns undefined if it is not a number or has
 * too many decimals.
 */
function nanoOf(text: string): bigint | undefined {
  const nano = nanoFromUsd(text.replace(/^-/, ''))
  return nano === undefined || !text.startsWith('-') ? nano : -nano
}

const amount = z
  .string(expected('a decimal as a string, such as "5.00"'))
  .refine(
    (text) => nanoOf(text) !== undefined,
    expected('a decimal as a string, with at most 9 decimals, such as "5.00"'),
  )
  .transform((text) => nanoOf(text) ?? 0n)
  .refine((nano) => nano !== 0n, 'expected an amount other than 0')

/** A manual money movement as requested by an operator. */
export const entryRequest = z
  .strictObject({
    id: z
      .string()
      .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, expected('a UUID'))
      .transform((id) => id.toLowerCase())
      .optional()
      .describe('An entry is booked only once per id. Default: an id derived from the Idempotency-Key.'),
    kind: z
      .enum(['top_up', 'adjustment'])
      .describe('A top-up adds money; an adjustment can also take money away.'),
    amount_usd: amount.describe('USD as a decimal with at most 9 decimals.'),
    note: z
      .string()
      .refine(
        (text) => text.length <= noteCharactersMax,
        `expected at most ${noteCharactersMax} characters of text`,
      )
      .nullish(),
  })
  .refine(({ kind, amount_usd }) => kind !== 'top_up' || amount_usd > 0n, {
    path: ['amount_usd'],
    error: 'a top-up must be positive; use an "adjustment" to take money away',
  })
  .meta({ id: 'EntryRequest' })

const usdText = z.string().describe('USD as an exact decimal.')
const nanoText = z.string().describe('Nano-USD as decimal digits.')

export const tenantBalance = z
  .object({
    tenant: z.string(),
    limited: z
      .boolean()
      .describe('Whether requests need a reservation to be admitted. If false, they are only recorded.'),
    balance_usd: usdText,
    balance_nano_usd: nanoText,
    held_usd: usdText,
    held_nano_usd: nanoText.describe('The amount that running requests hold, in nano-USD.'),
  })
  .meta({ id: 'TenantBalance' })

const entry = z.object({
  id: z.uuid(),
  kind: z.enum(['top_up', 'adjustment']),
  amount_usd: usdText,
  amount_nano_usd: nanoText,
  note: z.string().nullable(),
  created_at: z.iso.datetime(),
})

export const listedEntry = entry
  .extend({ kind: z.enum(['opening', 'top_up', 'adjustment', 'charge']) })
  .meta({ id: 'Entry' })

export const bookedEntry = tenantBalance.extend({ entry }).meta({ id: 'BookedEntry' })
