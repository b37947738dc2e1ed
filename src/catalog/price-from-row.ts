import { type RateName, ratesBy } from '../canonical/price-parts.ts'
import { ratesFromRow, tiersFrom } from './price-tiers.ts'
import type { ImageRateRow } from './queries.ts'
import type { ImageRate, Price } from './snapshot.ts'

/**
 * The rates with a column of their own in `prices`. The column `rates` holds all others, so that a new one
 * needs no migration.
 */
export const rateColumns = [
  'input',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'output',
  'reasoning',
  'audioInput',
  'audioOutput',
  'webSearch',
] as const satisfies RateName[]

export type RateColumn = (typeof rateColumns)[number]

/** A row of `prices`, whose amounts can also be decimal digits. */
export type StoredPrice = Record<RateColumn | 'image', bigint | string | null> & {
  id: string
  rates: unknown
  imageRates: readonly ImageRateRow[] | null
  tiers: unknown
  source: string | null
}

/** Returns undefined if no part of the price is known. */
export function priceFromRow(row: StoredPrice): Price | undefined {
  const { id, rates, image, imageRates, tiers, source } = row
  const stored = [...rateColumns.map((name) => row[name]), rates, image, imageRates, tiers]
  if (stored.every((part) => part === null)) return undefined
  const others = ratesFromRow(rates)
  const columns = new Map<RateName, bigint | undefined>(rateColumns.map((name) => [name, nano(row[name])]))
  return {
    id,
    ...ratesBy(({ name }) => columns.get(name) ?? others[name]),
    image: nano(image),
    imageRates: (imageRates ?? []).map(
      ({ size, quality, nano }): ImageRate => ({ size, quality, nano: BigInt(nano) }),
    ),
    tiers: tiersFrom(tiers),
    source: source ?? undefined,
  }
}

function nano(amount: bigint | string | null): bigint | undefined {
  return amount === null ? undefined : BigInt(amount)
}
