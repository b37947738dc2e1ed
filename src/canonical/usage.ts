/**
 * Token counts of one request. Each count excludes the others, so they sum to the bill:
 * total input = input + cacheRead + cacheWrite, total output = output + reasoning.
 *
 * The optional members refine the counts for prices. They are absent when the upstream did not report them,
 * or reported 0.
 */
export interface Usage {
  /** Input tokens at the full rate: neither read from nor written to a cache. */
  input: number
  cacheRead: number
  cacheWrite: number
  /** Output tokens that the client sees: reasoning excluded. */
  output: number
  reasoning: number
  /** The part of `cacheWrite` that the vendor keeps for an hour. */
  cacheWrite1h?: number
  /** The part of `input` that is audio. */
  audioInput?: number
  /** The part of `output` that is audio. */
  audioOutput?: number
  /** Web searches that the vendor ran, for vendors that charge each one. */
  webSearches?: number
  /** The tier that served the request, in the vendor's own word, such as `priority` or `flex`. */
  serviceTier?: string
  /** Tokens of other models that worked on the same answer. The counts above exclude them. */
  others?: readonly ModelUsage[]
}

/** The tokens that one model used. */
export interface ModelUsage {
  /** The upstream's name of the model. */
  model: string
  usage: Usage
}

/** The counts of both. The service tier is that of `one`, unless `one` has none. */
export function addUsage(one: Usage, other: Usage): Usage {
  const serviceTier = one.serviceTier ?? other.serviceTier
  const others = [...(one.others ?? []), ...(other.others ?? [])]
  return {
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
    ...refined({
      cacheWrite1h: sum(one.cacheWrite1h, other.cacheWrite1h),
      audioInput: sum(one.audioInput, other.audioInput),
      audioOutput: sum(one.audioOutput, other.audioOutput),
      webSearches: sum(one.webSearches, other.webSearches),
    }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(others.length === 0 ? {} : { others }),
  }
}

/** The counts that refine a usage. */
export type RefinedCount = 'cacheWrite1h' | 'audioInput' | 'audioOutput' | 'webSearches'

/** The counts over 0: the members of `Usage` that an upstream has reported. */
export function refined(
  counts: {
    [Name in RefinedCount]?: number | undefined
  },
): Partial<Pick<Usage, RefinedCount>> {
  const { cacheWrite1h, audioInput, audioOutput, webSearches } = counts
  return {
    ...(cacheWrite1h ? { cacheWrite1h } : {}),
    ...(audioInput ? { audioInput } : {}),
    ...(audioOutput ? { audioOutput } : {}),
    ...(webSearches ? { webSearches } : {}),
  }
}

function sum(one: number | undefined, other: number | undefined): number {
  return (one ?? 0) + (other ?? 0)
}

/**
 * Where the counts come from: the upstream, in part the upstream, our own estimate, or nowhere.
 * `implausible`: the upstream reported more than the request can have used.
 */
export type UsageSource = 'upstream' | 'partial' | 'estimated' | 'none' | 'implausible'

/** How the connection to the client ended. */
export type StreamEnd = 'complete' | 'client_gone' | 'upstream_cut' | 'timeout' | 'shutdown'

/**
 * How a request ended, for people: `succeeded` a whole answer was delivered; `refused` we said no before any
 * upstream call; `failed` the upstream or the gateway failed; `cancelled` the client went away first;
 * `orphaned` the process died before it could tell.
 */
export type Outcome = 'succeeded' | 'refused' | 'failed' | 'cancelled' | 'orphaned'

/**
 * A count that an upstream leaves out, from its total and the other count; undefined where they do not give
 * it: it is never 0.
 */
export function missingCount(total: number | undefined, other: number | undefined): number | undefined {
  return total === undefined || other === undefined || other > total ? undefined : total - other
}
