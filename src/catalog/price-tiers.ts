import { z } from 'zod'
import { byWord, priceParts, type Rates, ratesBy } from '../canonical/price-parts.ts'
import type { PriceTier } from './snapshot.ts'

/** Nano-USD as decimal digits, because JSON numbers are not exact. */
const nano = z
  .string()
  .regex(/^\d{1,18}$/)
  .transform((digits) => BigInt(digits))
  .optional()

const rateWords = byWord(() => nano)

const second = z.int().min(0).max(86_400).optional()

const tierRow = z
  .object({
    above_input_tokens: z.int().min(0).optional(),
    service_tier: z.string().optional(),
    since: z.iso.datetime().optional(),
    daily_from: second,
    daily_to: second,
    ...rateWords,
  })
  .transform(
    (row): PriceTier => ({
      when: {
        ...(row.above_input_tokens !== undefined && { aboveInputTokens: row.above_input_tokens }),
        ...(row.service_tier !== undefined && { serviceTier: row.service_tier }),
        ...(row.since !== undefined && { since: Date.parse(row.since) }),
        ...(row.daily_from !== undefined &&
          row.daily_to !== undefined && { daily: { from: row.daily_from, to: row.daily_to } }),
      },
      rates: ratesBy(({ word }) => row[word]),
    }),
  )

const tierList = z.array(tierRow)

/**
 * Reads the tiers of a row of `prices`; undefined if there are none. Throws if `tierRows` cannot have written
 * them.
 */
export function tiersFrom(rows: unknown): PriceTier[] | undefined {
  return rows === null || rows === undefined ? undefined : tierList.parse(rows)
}

/** Returns the JSON of the tiers for a row of `prices`; null if there are none. */
export function tierRows(tiers: readonly PriceTier[] | undefined): Record<string, unknown>[] | null {
  if (tiers === undefined || tiers.length === 0) return null
  return tiers.map(({ when, rates }) => ({
    ...(when.aboveInputTokens !== undefined && { above_input_tokens: when.aboveInputTokens }),
    ...(when.serviceTier !== undefined && { service_tier: when.serviceTier }),
    ...(when.since !== undefined && { since: new Date(when.since).toISOString() }),
    ...(when.daily !== undefined && { daily_from: when.daily.from, daily_to: when.daily.to }),
    ...digitsOf(rates),
  }))
}

const rateRow = z.object(rateWords)

/**
 * Reads the rates of a row of `prices` that have no column of their own. Throws if `ratesToRow` cannot have
 * written them.
 */
export function ratesFromRow(stored: unknown): Rates {
  const row = rateRow.parse(stored ?? {})
  return ratesBy(({ word }) => row[word])
}

/** Returns the JSON of rates for a row of `prices`; null if there are none. */
export function ratesToRow(rates: Rates): Record<string, string> | null {
  const digits = digitsOf(rates)
  return Object.keys(digits).length === 0 ? null : digits
}

function digitsOf(rates: Rates): Record<string, string> {
  return Object.fromEntries(namedRates(rates).map(([word, nano]) => [word, String(nano)]))
}

/** Returns the known rates of a price in nano-USD, with the names used in rows, files and API responses. */
export function namedRates(rates: Rates): [word: string, nano: bigint][] {
  return priceParts.flatMap(({ name, word }) => {
    const nano = rates[name]
    return nano === undefined ? [] : [[word, nano]]
  })
}
