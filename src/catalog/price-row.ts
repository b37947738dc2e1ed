import { tierRows } from './price-tiers.ts'
import type { ImageRateRow } from './queries.ts'
import type { ImageRate, Price } from './snapshot.ts'

/** The columns of a price in a row of `prices`. Undefined: a row that knows none. */
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

/** Sorted, because their order in the file means nothing: in another order it is the same price. */
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
