import { count } from '../../format/numbers.ts'
import { titleOfPart } from '../../format/price-parts.ts'
import { columns, partOf } from './prices.ts'

type Price = Readonly<Record<string, unknown>>

const isInTable: ReadonlySet<string> = new Set(columns.map(({ part }) => part))

/**
 * What the table of parts does not show, a line for each: fees, sizes of images, prices of long requests and
 * of service tiers. A part that has no words here stands as the API has it: nothing of a price is left out.
 */
export function otherLines(price: Price): string[] {
  const { images, tiers, service_tiers, ...plain } = price
  return [
    ...Object.keys(plain)
      .filter((part) => !isInTable.has(part))
      .flatMap((part) => lineOf(plain, part)),
    ...listOf(images).map(
      (image) => `An image, ${wordsOf([image.size, image.quality])}: ${partOf(image, 'usd') ?? '–'}`,
    ),
    ...listOf(tiers).map((tier) => tierLine(tier)),
    ...Object.entries(recordOf(service_tiers)).flatMap(([name, tier]) => serviceTierLines(name, tier)),
  ]
}

function serviceTierLines(name: string, tier: unknown): string[] {
  if (typeof tier !== 'object' || tier === null)
    return [`Service tier ${name}: ${String(tier)} times each price`]
  const { tiers, ...plain } = tier as Price
  return [
    `Service tier ${name}: ${partsOf(plain)}`,
    ...listOf(tiers).map((one) => `Service tier ${name}: ${tierLine(one)}`),
  ]
}

function tierLine(tier: Price): string {
  const { above_input_tokens, ...plain } = tier
  return `Above ${count(Number(above_input_tokens))} input tokens: ${partsOf(plain)}`
}

function partsOf(price: Price): string {
  return Object.keys(price)
    .flatMap((part) => lineOf(price, part))
    .join(', ')
}

function lineOf(price: Price, part: string): string[] {
  const value = price[part]
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return []
  const title = titleOfPart(part)
  return [title === undefined ? `${part} ${JSON.stringify(value)}` : `${title} ${partOf(price, part)}`]
}

function wordsOf(words: readonly unknown[]): string {
  return words.filter((word) => typeof word === 'string').join(', ')
}

function listOf(value: unknown): Price[] {
  return Array.isArray(value) ? value : []
}

function recordOf(value: unknown): Price {
  return typeof value === 'object' && value !== null ? (value as Price) : {}
}
