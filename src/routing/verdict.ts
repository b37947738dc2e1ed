import type { GatewayError } from '../canonical/error.ts'
import type { Outcome } from './breakers.ts'

/** What a call that gave its client nothing means for whoever could be asked next. */
export interface Verdict {
  /** Who may be asked now: another credential of the channel first, another channel, or nobody. */
  next: 'credential' | 'channel' | 'nobody'
  breaker: Outcome
  /**
   * The credential is passed over for a while; `refused`: it, or its account, is not taken at all; `forbidden`: not for
   * this model.
   */
  rest?: 'limited' | 'refused' | 'forbidden'
  /** The upstream itself said for how many seconds the channel is not to be asked. */
  openSeconds?: number
}

/** Who wrote the name of the model that the upstream was asked for. */
export type ModelNamedBy = 'client' | 'operator'

/**
 * The rule of retries, by what went wrong. The same table stands in docs/reference/routing.md.
 *
 * | failure                                            | next       | breaker | credential             |
 * | -------------------------------------------------- | ---------- | ------- | ---------------------- |
 * | refused as the client's fault (400, 404, 409, ...) | nobody     | life    |                        |
 * | no such model, by a name that the operator wrote   | channel    | life    |                        |
 * | filtered content, told in a stream                 | channel    | life    |                        |
 * | rate limit (429)                                   | credential | life    | rests: `retry-after`   |
 * | credential or account refused (401, 402)           | credential | life    | rests: `refused`       |
 * | forbidden (403)                                    | credential | life    | rests: `forbidden`     |
 * | refused in any other way (405, 410, 414, 431, ...) | channel    | life    |                        |
 * | overloaded, with `retry-after` (503, 529)          | channel    | failure | (the channel is opened) |
 * | unreachable, silent, cut, 408, 5xx, anything else  | channel    | failure |                        |
 * | the client left, this process ends, our own fault  | nobody     | nothing |                        |
 */
export function verdictOn(error: GatewayError, modelNamedBy: ModelNamedBy = 'client'): Verdict {
  const { kind, fault, upstreamStatus: status, retryAfterSeconds } = error
  if (kind === 'model_not_found' && modelNamedBy === 'operator') return otherChannel
  if (status !== undefined && clientStatuses.has(status) && kind !== 'upstream_error') return clientsFault
  if (status === 409 || status === 415) return clientsFault
  if (fault === 'client') return status === undefined && !toldInStream.has(kind) ? nobodysFault : clientsFault
  if (fault === 'gateway') return nobodysFault
  if (kind === 'content_filtered') return otherChannel
  if (kind === 'rate_limited') return { next: 'credential', breaker: 'life', rest: 'limited' }
  if (kind === 'upstream_error' && status !== undefined && refusedStatuses.has(status))
    return { next: 'credential', breaker: 'life', rest: status === 403 ? 'forbidden' : 'refused' }
  if (status !== undefined && isOtherRefusal(status)) return otherChannel
  if (kind === 'upstream_overloaded' && retryAfterSeconds !== undefined)
    return { next: 'channel', breaker: 'failure', openSeconds: retryAfterSeconds }
  return { next: 'channel', breaker: 'failure' }
}

/** Somebody answers there, who does not take such a request. A 404 in no known format is a wrong address. */
function isOtherRefusal(status: number): boolean {
  return status >= 400 && status <= 499 && status !== 404 && status !== 408
}

const clientStatuses: ReadonlySet<number> = new Set([400, 404, 413, 422])
/**
 * What upstreams refuse a credential with, where the error is none of the client's: some tell a bad key with a 400, and
 * an account without money with a 429.
 */
const refusedStatuses: ReadonlySet<number> = new Set([400, 401, 402, 403, 429])
/** Kinds of a request's own fault that an upstream tells after it has answered with 200. */
const toldInStream: ReadonlySet<string> = new Set(['invalid_request', 'content_filtered'])
const otherChannel: Verdict = { next: 'channel', breaker: 'life' }
const clientsFault: Verdict = { next: 'nobody', breaker: 'life' }
const nobodysFault: Verdict = { next: 'nobody', breaker: 'nothing' }
