import { tierRows } from './price-tiers.ts'
import type { ImageRateRow } from './queries.ts'
import type { ImageRate, Price } from './snapshot.ts'

/** Returns the price columns of a row of `prices`. Undefined produces a row without a known price. */
export const priceRow = (price: Omit<Price, 'id'> | undefined) => ({
  input: price?.input ?? null,
  cacheRead: price?.cacheRead ?? null,
  cacheWrite: price?.cacheWrite ?? null,
  cacheWrite1h: price?.cacheWrite1h ?? null,
  output: price?.output ?? null,
  reasoning: price?.reasoning ?? null,
  audioInput: price?.audioInput ?? null,
  audioOutput: price?.audioOutput ?? null,
  webSearch: price?.webSearch ?? null,
  image: price?.image ?? null,
  imageRates: imageRateRows(price?.imageRates ?? []),
  tiers: tierRows(price?.tiers),
  source: price?.source ?? null,
})

/** Sorted, because the order in the file has no meaning: in another order it is still the same price. */
function imageRateRows(rates: readonly ImageRate[]): ImageRateRow[] | null {
  if (rates.length === 0) return null
  return rates
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
    .map(({ size, quality, nano }) => ({
      ...(size !== undefined && { size }),
      ...(quality !== undefined && { quality }),
      nano: String(nano),
    }))
}

const placeOf = ({ size, quality }: ImageRate) => JSON.stringify([size, quality])
