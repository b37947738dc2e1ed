import { type RateName, type Rates, ratesBy } from '../canonical/price-parts.ts'
import { type RateColumn, rateColumns } from './price-from-row.ts'
import { ratesToRow, tierRows } from './price-tiers.ts'
import type { ImageRateRow } from './queries.ts'
import type { ImageRate, Price } from './snapshot.ts'

/** Returns the price columns of a row of `prices`. Undefined produces a row without a known price. */
export const priceRow = (price: Omit<Price, 'id'> | undefined) => ({
  ...columnsOf(price),
  rates: ratesToRow(ratesBy(({ name }) => (hasColumn(name) ? undefined : price?.[name]))),
  image: price?.image ?? null,
  imageRates: imageRateRows(price?.imageRates ?? []),
  tiers: tierRows(price?.tiers),
  source: price?.source ?? null,
})

function columnsOf(price: Rates = {}): Record<RateColumn, bigint | null> {
  return Object.fromEntries(rateColumns.map((name) => [name, price[name] ?? null])) as Record<
    RateColumn,
    bigint | null
  >
}

function hasColumn(name: RateName): boolean {
  return rateColumns.some((column) => column === name)
}

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
