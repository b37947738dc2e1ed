import type { GatewayError } from '../canonical/error.ts'
import type { RunningRequests } from './running-requests.ts'

interface Cuttable {
  place: number
  ended: boolean
  /** Its id, once its first half is in the journal. */
  inJournal: string | undefined
  cut: GatewayError | undefined
  running: { abort(reason: GatewayError): void } | undefined
}

/**
 * Ends the running requests that are in the journal and for whose ids `isCut` returns true. Their clients get
 * the error.
 */
export function cutRequests(
  requests: RunningRequests<Cuttable>,
  isCut: (requestId: string) => boolean,
  error: GatewayError,
): void {
  for (const request of requests.all()) {
    if (request.ended || request.inJournal === undefined || !isCut(request.inJournal)) continue
    request.cut = error
    request.running?.abort(error)
  }
}
