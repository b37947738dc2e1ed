/**
 * Token counts of one request. Each count excludes the others, so they sum to the bill:
 * total input = input + cacheRead + cacheWrite, total output = output + reasoning.
 */
export interface Usage {
  /** Input tokens at the full rate: neither read from nor written to a cache. */
  input: number
  cacheRead: number
  cacheWrite: number
  /** Output tokens that the client sees: reasoning excluded. */
  output: number
  reasoning: number
}

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  }
}

/** Where the counts come from: the upstream, in part the upstream, our own estimate, or nowhere. */
export type UsageSource = 'upstream' | 'partial' | 'estimated' | 'none'

/** How the connection to the client ended. */
export type StreamEnd = 'complete' | 'client_gone' | 'upstream_cut' | 'timeout' | 'shutdown'

/**
 * How a request ended, for people: `succeeded` a whole answer was delivered; `refused` we said no before any
 * upstream call; `failed` the upstream or the gateway failed; `cancelled` the client went away first;
 * `orphaned` the process died before it could tell.
 */
export type Outcome = 'succeeded' | 'refused' | 'failed' | 'cancelled' | 'orphaned'
