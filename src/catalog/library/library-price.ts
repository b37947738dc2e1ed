import { priceParts, type RateName, type Rates } from '../../canonical/price-parts.ts'
import type { Price, PriceCondition, PriceTier } from '../snapshot.ts'

/**
 * A price in the library, in USD. The suffix of the key states the number of tokens or calls that it is for.
 */
export type LibraryRates = Readonly<Record<string, LibraryAmount>>
export type LibraryAmount = number | { base: number; tiers: { start: number; price: number }[] }

/** Prices with a condition. If several conditions are met, the last one applies. */
export interface ConditionalRates {
  when: PriceCondition
  rates: LibraryRates
}

/**
 * Converts a library price to our form. Returns undefined if we could not calculate a request's cost from it.
 */
export function priceFromLibrary(
  conditional: readonly ConditionalRates[],
  now: number,
): Omit<Price, 'id'> | undefined {
  const inForce = conditional.slice(
    Math.max(
      0,
      conditional.findLastIndex((one) => isSure(one.when, now)),
    ),
  )
  if (!inForce.every(({ rates }) => isCountable(rates))) return undefined
  const [first, ...later] = inForce
  if (first === undefined || Object.keys(first.rates).length === 0) return undefined
  const tiers = [
    ...longTiers({}, first.rates),
    ...later.flatMap(({ when, rates }) => [
      { when, rates: ratesAbove(rates, -1) },
      ...longTiers(when, rates),
    ]),
  ]
  return {
    ...ratesAbove(first.rates, -1),
    image: undefined,
    imageRates: [],
    ...(tiers.length > 0 && { tiers }),
  }
}

/**
 * True if the condition is met now and will stay so, in which case earlier entries of the list no longer
 * matter.
 */
function isSure({ since = 0, daily }: PriceCondition, now: number): boolean {
  return daily === undefined && since <= now
}

const partOfKey: ReadonlyMap<string, RateName> = new Map(
  priceParts.map(({ library, name }) => [library, name]),
)

/** Kinds of tokens that we count together with others, so they must have the same price as those. */
const countedWith: Readonly<Record<string, string>> = {
  input_text_mtok: 'input_mtok',
  input_image_mtok: 'input_mtok',
  input_video_mtok: 'input_mtok',
  cache_image_read_mtok: 'cache_read_mtok',
  output_text_mtok: 'output_mtok',
  output_image_mtok: 'output_mtok',
  output_video_mtok: 'output_mtok',
  output_citation_mtok: 'output_mtok',
}

/** Fees for tools that we do not count, and cached audio, which we count as cached text. */
const notCounted = new Set(['storage_searches_kcount', 'social_searches_kcount', 'cache_audio_read_mtok'])

function isCountable(rates: LibraryRates): boolean {
  return Object.entries(rates).every(([key, amount]) => {
    if (partOfKey.has(key) || notCounted.has(key)) return true
    const whole = countedWith[key]
    return whole !== undefined && JSON.stringify(rates[whole]) === JSON.stringify(amount)
  })
}

function longTiers(when: PriceCondition, rates: LibraryRates): PriceTier[] {
  const starts = Object.values(rates).flatMap((amount) =>
    typeof amount === 'number' ? [] : amount.tiers.map(({ start }) => start),
  )
  return [...new Set(starts)]
    .toSorted((a, b) => a - b)
    .map((start) => ({ when: { ...when, aboveInputTokens: start }, rates: ratesAbove(rates, start) }))
}

/** The rates of a request with more input tokens than `start`. */
function ratesAbove(library: LibraryRates, start: number): Rates {
  const rates: Rates = {}
  for (const [key, amount] of Object.entries(library)) {
    const part = partOfKey.get(key)
    if (part === undefined) continue
    const nano = nanoFromNumber(amountAbove(amount, start))
    rates[part] = nano !== undefined && key.endsWith('_kcount') ? (nano + 500n) / 1000n : nano
  }
  return rates
}

function amountAbove(amount: LibraryAmount, start: number): number {
  if (typeof amount === 'number') return amount
  return amount.tiers.findLast((tier) => tier.start <= start)?.price ?? amount.base
}

/**
 * Converts a JSON number in USD to nano-USD without a floating-point error, by reading its decimal digits.
 * Digits after the ninth decimal are rounded half up. Returns undefined unless the amount is from 0 to
 * 999999999.
 */
export function nanoFromNumber(amount: number): bigint | undefined {
  if (!(amount >= 0 && amount <= 999_999_999)) return undefined
  const text = String(amount)
  const [whole = '', decimals = ''] = (text.includes('e') ? amount.toFixed(20) : text).split('.')
  const digits = decimals.padEnd(10, '0')
  const nano = BigInt(whole + digits.slice(0, 9))
  return digits.charAt(9) >= '5' ? nano + 1n : nano
}
