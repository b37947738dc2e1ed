import { z } from 'zod'
import type { PriceTier, Rates } from './snapshot.ts'

/** Nano-USD as decimal digits, because JSON numbers are not exact. */
const nano = z
  .string()
  .regex(/^\d{1,18}$/)
  .transform((digits) => BigInt(digits))
  .optional()

const second = z.int().min(0).max(86_400).optional()

const tierRow = z
  .object({
    above_input_tokens: z.int().min(0).optional(),
    service_tier: z.string().optional(),
    since: z.iso.datetime().optional(),
    daily_from: second,
    daily_to: second,
    input: nano,
    cache_read: nano,
    cache_write: nano,
    cache_write_1h: nano,
    output: nano,
    reasoning: nano,
    audio_input: nano,
    audio_output: nano,
    web_search: nano,
    request: nano,
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
      rates: {
        input: row.input,
        cacheRead: row.cache_read,
        cacheWrite: row.cache_write,
        cacheWrite1h: row.cache_write_1h,
        output: row.output,
        reasoning: row.reasoning,
        audioInput: row.audio_input,
        audioOutput: row.audio_output,
        webSearch: row.web_search,
        request: row.request,
      },
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
    ...Object.fromEntries(namedRates(rates).map(([name, nano]) => [name, String(nano)])),
  }))
}

/** Returns the known rates of a price in nano-USD, with the names used in rows, files and API responses. */
export function namedRates(rates: Rates): [string, bigint][] {
  const named = {
    input: rates.input,
    cache_read: rates.cacheRead,
    cache_write: rates.cacheWrite,
    cache_write_1h: rates.cacheWrite1h,
    output: rates.output,
    reasoning: rates.reasoning,
    audio_input: rates.audioInput,
    audio_output: rates.audioOutput,
    web_search: rates.webSearch,
    request: rates.request,
  }
  return Object.entries(named).flatMap(([name, nano]) => (nano === undefined ? [] : [[name, nano]]))
}
