import { type Counts, countsBy } from './price-parts.ts'

/**
 * Token counts of one request. No token is counted twice, so the counts add up to the billed totals:
 * total input = input + cacheRead + cacheWrite, total output = output + reasoning.
 *
 * The optional members, and the counts of price-parts.ts, refine them for pricing. They are absent if the
 * upstream did not report them or reported 0.
 */
export interface Usage extends Counts {
  /** Input tokens at the full rate, neither read from nor written to a cache. */
  input: number
  cacheRead: number
  cacheWrite: number
  /** Output tokens visible to the client, excluding reasoning. */
  output: number
  reasoning: number
  /** The service tier of the request as the vendor names it, such as `priority` or `flex`. */
  serviceTier?: string
  /** Tokens of other models that contributed to the same answer. Not included in the counts above. */
  others?: readonly ModelUsage[]
}

/** The tokens that one model used. */
export interface ModelUsage {
  /** The upstream's name for the model. */
  model: string
  usage: Usage
}

/** Adds two usages. The service tier is that of `one` unless it has none. */
export function addUsage(one: Usage, other: Usage): Usage {
  const serviceTier = one.serviceTier ?? other.serviceTier
  const others = [...(one.others ?? []), ...(other.others ?? [])]
  return {
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
    ...countsBy(({ name }) => (one[name] ?? 0) + (other[name] ?? 0)),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(others.length === 0 ? {} : { others }),
  }
}

/**
 * The source of the counts: the upstream, partly the upstream, our own estimate, or none. `implausible`: the
 * upstream reported more than the request can have used.
 */
export type UsageSource = 'upstream' | 'partial' | 'estimated' | 'none' | 'implausible'

/** How the connection to the client ended. */
export type StreamEnd = 'complete' | 'client_gone' | 'upstream_cut' | 'timeout' | 'shutdown'

/**
 * How a request ended, for people: `succeeded` a complete answer was delivered; `refused` we rejected it
 * before any upstream call; `failed` the upstream or the gateway failed; `cancelled` the client disconnected
 * first; `orphaned` the process died before it could record the outcome.
 */
export type Outcome = 'succeeded' | 'refused' | 'failed' | 'cancelled' | 'orphaned'

/**
 * Derives a count that an upstream leaves out from the total and the other count. Undefined if that is not
 * possible; never assumed to be 0.
 */
export function missingCount(total: number | undefined, other: number | undefined): number | undefined {
  return total === undefined || other === undefined || other > total ? undefined : total - other
}
