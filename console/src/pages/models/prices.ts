import type { Schema } from '../../api/client.ts'
import { priceParts } from '../../format/price-parts.ts'

type Price = Readonly<Record<string, unknown>>

/** The parts of a price that a table shows, in USD for a million tokens unless they say otherwise. */
export const columns = priceParts.filter(({ isColumn }) => isColumn)

/** A decimal of the API, with the sign of the currency; undefined where the price has no such part. */
export function partOf(price: Price | null | undefined, part: string): string | undefined {
  const value = price?.[part]
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  // `0.1` is read as a price when it is `0.10`.
  return `$${String(value).replace(/^(\d+\.\d)$/, '$10')}`
}

/** `$2.50 in, $10 out`: the price in a cell. */
export function shortPrice(price: Price | null | undefined): string | undefined {
  const [input, output, image] = ['input', 'output', 'image'].map((part) => partOf(price, part))
  if (input !== undefined || output !== undefined) return `${input ?? '–'} / ${output ?? '–'}`
  return image === undefined ? undefined : `${image} an image`
}

/** A row of the verdict grid: one feature, and what was found on each channel and in each format. */
export interface FeatureRow {
  feature: string
  cells: ReadonlyMap<string, Schema<'Offer'>['verdicts'][number]>
}

/** Features by channel and format. `columns` are `channel, format` in the order of the offers. */
export function verdictGrid(offers: readonly Schema<'Offer'>[]): { columns: string[]; rows: FeatureRow[] } {
  const columns: string[] = []
  const rows = new Map<string, Map<string, Schema<'Offer'>['verdicts'][number]>>()
  for (const { channel, verdicts } of offers) {
    for (const verdict of verdicts) {
      const column = `${channel}, ${verdict.protocol}`
      if (!columns.includes(column)) columns.push(column)
      const cells = rows.get(verdict.subject) ?? new Map<string, Schema<'Offer'>['verdicts'][number]>()
      cells.set(column, verdict)
      rows.set(verdict.subject, cells)
    }
  }
  return {
    columns,
    rows: [...rows]
      .map(([feature, cells]) => ({ feature, cells }))
      .sort((a, b) => a.feature.localeCompare(b.feature)),
  }
}
