import type { GatewayError } from '../canonical/error.ts'
import type { CallOutcome } from './breakers.ts'

/**
 * What a failed call means for the next target, the breaker and the credential. The client has not seen the
 * failure.
 */
export interface Verdict {
  /** What can be tried next: another credential of the channel, another channel, or nothing. */
  next: 'credential' | 'channel' | 'none'
  breaker: CallOutcome
  /**
   * The credential's cooldown. `refused` may concern the whole account and applies to all models; `forbidden`
   * applies to this model only.
   */
  cooldown?: 'limited' | 'refused' | 'forbidden'
  /** For how many seconds the upstream told us not to call the channel. */
  openSeconds?: number
}

/** Who wrote the model name that was sent to the upstream. */
export type ModelNamedBy = 'client' | 'operator'

/**
 * The rules for retries. docs/reference/routing.md contains the same table.
 *
 * | failure                                            | next       | breaker | credential              |
 * | -------------------------------------------------- | ---------- | ------- | ----------------------- |
 * | refused as the client's fault (400, 404, 409, ...) | none       | life    |                         |
 * | no such model, by a name that the operator wrote   | channel    | life    |                         |
 * | no such model, with a status of the server (503)   | channel    | life    |                         |
 * | a request above what an account may send (429)     | channel    | life    |                         |
 * | filtered content, reported in a stream             | channel    | life    |                         |
 * | rate limit (429)                                   | credential | life    | cooldown: `retry-after` |
 * | credential or account refused (401, 402)           | credential | life    | cooldown: `refused`     |
 * | the request could not be signed                    | credential | nothing | cooldown: `refused`     |
 * | forbidden (403)                                    | credential | life    | cooldown: `forbidden`   |
 * | refused in any other way (405, 410, 414, 431, ...) | channel    | life    |                         |
 * | overloaded, with `retry-after` (503, 529)          | channel    | failure | (the channel is opened) |
 * | unreachable, silent, cut, 408, 5xx, anything else  | channel    | failure |                         |
 * | the client left                                    | none       | left    |                         |
 * | this process ends, our own fault                   | none       | nothing |                         |
 */
export function verdictOn(error: GatewayError, modelNamedBy: ModelNamedBy = 'client'): Verdict {
  const { kind, fault, reason, upstreamStatus: status, retryAfterSeconds } = error
  if (reason === 'upstream_call_abandoned') return clientLeft
  const isOfClient = status !== undefined && clientStatuses.has(status)
  if (kind === 'model_not_found' && (modelNamedBy === 'operator' || !isOfClient)) return otherChannel
  if (kind === 'request_too_large' && status === 429) return otherChannel
  if (isOfClient && kind !== 'upstream_error') return clientsFault
  if (status === 409 || status === 415) return clientsFault
  if (fault === 'client')
    return status === undefined && !streamedClientErrors.has(kind) ? gatewaysFault : clientsFault
  if (fault === 'gateway') return gatewaysFault
  if (kind === 'content_filtered') return otherChannel
  if (reason === 'upstream_request_unsigned')
    return { next: 'credential', breaker: 'nothing', cooldown: 'refused' }
  if (kind === 'rate_limited') return { next: 'credential', breaker: 'life', cooldown: 'limited' }
  if (kind === 'upstream_error' && status !== undefined && refusedStatuses.has(status))
    return { next: 'credential', breaker: 'life', cooldown: status === 403 ? 'forbidden' : 'refused' }
  if (status !== undefined && isOtherRefusal(status)) return otherChannel
  if (kind === 'upstream_overloaded' && retryAfterSeconds !== undefined)
    return { next: 'channel', breaker: 'failure', openSeconds: retryAfterSeconds }
  return { next: 'channel', breaker: 'failure' }
}

/**
 * The upstream works, but does not accept this kind of request. A 404 in an unknown format means that the
 * address is wrong.
 */
function isOtherRefusal(status: number): boolean {
  return status >= 400 && status <= 499 && status !== 404 && status !== 408
}

const clientStatuses: ReadonlySet<number> = new Set([400, 404, 413, 422])
/**
 * Statuses with which upstreams refuse a credential although the error is not the client's fault. Some
 * respond to an invalid key with 400, and to an account without money with 429.
 */
const refusedStatuses: ReadonlySet<number> = new Set([400, 401, 402, 403, 429])
/** Errors caused by the client that an upstream may report within a stream, after status 200. */
const streamedClientErrors: ReadonlySet<string> = new Set(['invalid_request', 'content_filtered'])
const otherChannel: Verdict = { next: 'channel', breaker: 'life' }
const clientsFault: Verdict = { next: 'none', breaker: 'life' }
const clientLeft: Verdict = { next: 'none', breaker: 'left' }
const gatewaysFault: Verdict = { next: 'none', breaker: 'nothing' }
