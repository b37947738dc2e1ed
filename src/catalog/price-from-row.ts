import { tiersFrom } from './price-tiers.ts'
import type { PriceRow } from './queries.ts'
import type { ImageRate, Price } from './snapshot.ts'

/** Returns undefined if no part of the price is known. */
export function priceFromRow(row: PriceRow): Price | undefined {
  const { id, modelId: _model, source, createdAt: _createdAt, ...parts } = row
  if (Object.values(parts).every((part) => part === null)) return undefined
  return {
    id,
    input: row.input ?? undefined,
    cacheRead: row.cacheRead ?? undefined,
    cacheWrite: row.cacheWrite ?? undefined,
    cacheWrite1h: row.cacheWrite1h ?? undefined,
    output: row.output ?? undefined,
    reasoning: row.reasoning ?? undefined,
    audioInput: row.audioInput ?? undefined,
    audioOutput: row.audioOutput ?? undefined,
    webSearch: row.webSearch ?? undefined,
    image: row.image ?? undefined,
    imageRates: (row.imageRates ?? []).map(
      ({ size, quality, nano }): ImageRate => ({ size, quality, nano: BigInt(nano) }),
    ),
    tiers: tiersFrom(row.tiers),
    source: source ?? undefined,
  }
}
