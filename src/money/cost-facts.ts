import { countOf, recordsOf, textOf } from '../canonical/json.ts'
import { type Counts, countsBy, refinedCounts } from '../canonical/price-parts.ts'
import type { Usage } from '../canonical/usage.ts'
import { name } from '../journal/column.ts'
import { redactText } from '../redaction/redact.ts'
import type { PricedModel } from './price-others.ts'

/** A fact about an answer that affects its cost, in addition to the counts in the usage log. */
export type CostFact =
  /** Work that the counts do not show, or `outputAtMost`. */
  | { part: string; count: number }
  /** The tier that served the request, as named by the vendor. */
  | { part: 'service_tier'; name: string }
  /** Another model that worked on the answer. Its cost is in nano-USD; null if unknown. */
  | {
      part: 'model'
      name: string
      tokens: { input: number; cache_read: number; cache_write: number; output: number; reasoning: number }
      cost_nano_usd: string | null
      price_id: string | null
    }

/**
 * Part of a fact: nobody reported the output, so its count, which is the count of the fact, is all that the
 * request allows.
 */
export const outputAtMost = 'output_at_most'

/** Undefined for most answers, which have nothing but the counts. */
export function costFactsOf(usage: Usage, others: readonly PricedModel[]): CostFact[] | undefined {
  const facts: CostFact[] = []
  for (const { word, name } of refinedCounts) {
    const count = usage[name]
    if (count !== undefined) facts.push({ part: word, count })
  }
  const { serviceTier } = usage
  if (serviceTier !== undefined && !usual.has(serviceTier.toLowerCase())) {
    facts.push({ part: 'service_tier', name: serviceTier })
  }
  for (const { model, usage, cost, priceId } of others.slice(0, modelsMax)) {
    facts.push({
      part: 'model',
      // An upstream can send any name, and a fact that does not fit into the row would be lost.
      name: redactText(model, [], name.max),
      tokens: {
        input: usage.input,
        cache_read: usage.cacheRead,
        cache_write: usage.cacheWrite,
        output: usage.output,
        reasoning: usage.reasoning,
      },
      cost_nano_usd: cost === undefined ? null : String(cost),
      price_id: priceId ?? null,
    })
  }
  return facts.length === 0 ? undefined : facts
}

/** The tiers of ordinary requests, which are left out because nearly every answer has one. */
const usual = new Set(['default', 'standard', 'auto'])

/** The maximum number of other models that a row lists for one answer. */
const modelsMax = 20

/** Reads the facts stored in a row. `others` is in nano-USD, and undefined if a cost is unknown. */
export function readCostFacts(facts: unknown): {
  refinements: Counts & Pick<Usage, 'serviceTier'>
  others: bigint | undefined
} {
  const lines = recordsOf(facts)
  const counts = new Map(lines.map(({ part, count }) => [part, count]))
  const serviceTier = textOf(lines.find(({ part }) => part === 'service_tier')?.name)
  let others: bigint | undefined = 0n
  for (const line of lines) {
    if (line.part !== 'model' || others === undefined) continue
    const cost = textOf(line.cost_nano_usd)
    others = cost !== undefined && /^\d+$/.test(cost) ? others + BigInt(cost) : undefined
  }
  return {
    refinements: {
      ...countsBy(({ word }) => countOf(counts.get(word))),
      ...(serviceTier === undefined ? {} : { serviceTier }),
    },
    others,
  }
}
