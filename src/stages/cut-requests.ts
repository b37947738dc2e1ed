import type { GatewayError } from '../canonical/error.ts'
import type { RunningRequests } from '../http/running-requests.ts'
import type { Life } from './life.ts'

/** End the running requests that stand in the journal and for whose ids `isCut` is true. Their clients get the error. */
export function cutRequests(
  requests: RunningRequests<Life>,
  isCut: (requestId: string) => boolean,
  error: GatewayError,
): void {
  for (const life of requests.all()) {
    if (life.ended || life.inJournal === undefined || !isCut(life.inJournal)) continue
    life.cut = error
    life.running?.abort(error)
  }
}
