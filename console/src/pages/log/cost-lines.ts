import type { Schema } from '../../api/client.ts'
import { count } from '../../format/numbers.ts'

/** A part of a cost: `input 12,400 tokens`, and what it cost. */
export interface CostLine {
  name: string
  /** How much of it; undefined where it has no number. */
  amount: string | undefined
  nanoUsd: string
  /** USD for a million, worked out from the two; undefined where that says nothing. */
  perMillion: string | undefined
}

type Detail = Schema<'LogDetail'>

const parts = [
  ['input', 'Input'],
  ['cache_read', 'Cached input'],
  ['cache_write', 'Cache write'],
  ['output', 'Output'],
  ['reasoning', 'Reasoning'],
] as const

/** The sum that makes the cost of a row. Empty where the parts are not known. */
export function costLines({
  cost_parts_nano_usd: cost,
  tokens,
  images,
  cost_facts,
}: Pick<Detail, 'cost_parts_nano_usd' | 'tokens' | 'images' | 'cost_facts'>): CostLine[] {
  if (cost === null) return []
  const most = isAtMost({ cost_facts }) ? 'at most ' : ''
  const lines: CostLine[] = parts
    .map(([part, name]) => {
      const amount = tokens?.[part] ?? 0
      return {
        name,
        amount: `${part === 'output' ? most : ''}${count(amount)} tokens`,
        nanoUsd: cost[part],
        perMillion: amount === 0 || cost[part] === '0' ? undefined : perMillion(cost[part], amount),
        isThere: amount > 0 || cost[part] !== '0',
      }
    })
    .filter(({ isThere }) => isThere)
    .map(({ isThere: _isThere, ...line }) => line)
  if (cost.image !== '0') {
    lines.push({
      name: 'Images',
      amount: images === null ? undefined : count(images),
      nanoUsd: cost.image,
      perMillion: undefined,
    })
  }
  if (cost.fees !== '0')
    lines.push({ name: 'Fees', amount: undefined, nanoUsd: cost.fees, perMillion: undefined })
  if (cost.others !== '0')
    lines.push({ name: 'Other models', amount: undefined, nanoUsd: cost.others, perMillion: undefined })
  return lines
}

/** Nobody reported the output: it is counted as all that the request allows. */
export function isAtMost({ cost_facts }: Pick<Detail, 'cost_facts'>): boolean {
  return cost_facts.some(({ part }) => part === outputAtMost)
}

export const outputAtMost = 'output_at_most'

/** Nano-USD for one token is USD for a thousand millions: divided by 1,000 it is USD for a million. */
function perMillion(nanoUsd: string, tokens: number): string {
  const value = Number(nanoUsd) / tokens / 1_000
  const zeros = value > 0 && value < 0.1 ? Math.floor(-Math.log10(value)) : 0
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: zeros + 4 }
  return `$${value.toLocaleString(undefined, digits)}/M`
}

/** Where the price comes from. The prices of the lines contain the factor of the group. */
export function pricedBy({
  price_source,
  price_multiplier,
}: Pick<Detail, 'price_source' | 'price_multiplier'>): string {
  const isPlain = price_multiplier === null || /^1(\.0*)?$/.test(price_multiplier)
  return [
    ...(price_source === null ? [] : [`price from: ${price_source}`]),
    ...(isPlain ? [] : [`including × ${price_multiplier} of the group`]),
  ].join(', ')
}
