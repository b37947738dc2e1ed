import { priceParts, titleOfPart } from '../../format/price-parts.ts'
import { otherLines } from './price-lines.ts'
import { partOf } from './prices.ts'

/** A price in the words of the API. */
export type Price = Readonly<Record<string, unknown>>

/**
 * What is written for a model: a price by its parts, explicitly nothing, or explicitly unknown. Only input
 * and output of 0 without any other part are `free`: as such a draft gives them back.
 */
export interface PriceDraft {
  kind: 'priced' | 'free' | 'none'
  /** By part; an empty text states nothing. */
  texts: Readonly<Record<string, string>>
  /** What no field shows: prices of images by size, of long requests and of service tiers. */
  others: Price
}

const parts = new Set(priceParts.map(({ part }) => part))
const freePrice = { input: '0', output: '0' }

export function draftOf(price: Price | null | undefined): PriceDraft {
  const stated = Object.entries(price ?? {}).filter(([, value]) => value !== null && value !== undefined)
  const texts = Object.fromEntries(
    stated.flatMap(([part, value]) => (parts.has(part) ? [[part, String(value)]] : [])),
  )
  const others = Object.fromEntries(stated.filter(([part]) => !parts.has(part)))
  const isFree =
    stated.length === 2 &&
    [texts.input, texts.output].every((text) => text !== undefined && plain(text) === '0')
  return { kind: stated.length === 0 ? 'none' : isFree ? 'free' : 'priced', texts, others }
}

/** Null: the model has no price of its own. */
export function priceOf({ kind, texts, others }: PriceDraft): Price | null {
  if (kind === 'none') return null
  if (kind === 'free') return freePrice
  const stated = Object.entries(texts).flatMap(([part, text]) =>
    text.trim() === '' ? [] : [[part, text.trim()] as const],
  )
  return { ...others, ...Object.fromEntries(stated) }
}

/** What is wrong, by part; `price` is the whole of it. */
export function faultsOf(draft: PriceDraft): Readonly<Record<string, string>> {
  if (draft.kind !== 'priced') return {}
  const faults = Object.entries(draft.texts).flatMap(([part, text]) => {
    const written = text.trim()
    if (written === '' || /^\d{1,9}(\.\d{1,9})?$/.test(written)) return []
    return [[part, 'Write USD as a decimal number, such as 2.50.']]
  })
  if (Object.keys(priceOf(draft) ?? {}).length === 0)
    faults.push(['price', 'Write a price, or choose “Free” or “No price yet”.'])
  return Object.fromEntries(faults)
}

export interface PriceChange {
  /** The words of the part: "Input". */
  title: string
  /** With its currency; undefined: not stated. */
  before: string | undefined
  after: string | undefined
}

/** What a new price changes, part by part. `0.1` and `0.10` are the same price. */
export function changesOf(before: Price | null, after: Price | null): PriceChange[] {
  const shown = (price: Price | null, part: string) => {
    const value = price?.[part]
    return value === null || value === undefined ? undefined : plain(String(value))
  }
  const named = priceParts
    .filter(({ part }) => shown(before, part) !== shown(after, part))
    .map(({ part }) => ({
      title: titleOfPart(part) ?? part,
      before: partOf(before, part),
      after: partOf(after, part),
    }))
  const [had, has] = [before, after].map((price) => otherLines(draftOf(price).others))
  return JSON.stringify(had) === JSON.stringify(has)
    ? named
    : [
        ...named,
        {
          title: 'Tiers and sizes',
          before: had?.join('; ') || undefined,
          after: has?.join('; ') || undefined,
        },
      ]
}

/** Without zeros that say nothing. */
function plain(text: string): string {
  const written = text.trim()
  return written.includes('.') ? written.replace(/\.?0+$/, '') : written
}
