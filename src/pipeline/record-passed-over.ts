import type { ModelCandidates, PassedOverCandidate } from '../routing/targets.ts'
import { passedOver } from './attempt.ts'
import type { Received } from './received.ts'

/** A row with this many attempts records no more passed-over candidates. */
const passedOverMax = 16

/** Records a candidate that is not called, with the reason. */
export function recordPassedOver(
  { row }: Pick<Received, 'row'>,
  { fallback }: Pick<ModelCandidates, 'fallback'>,
  candidate: PassedOverCandidate,
  reason: string,
): void {
  if (row.attempts.length >= passedOverMax) return
  const label = fallback === undefined ? reason : `fallback ${fallback}, ${reason}`
  row.attempts.push(passedOver(candidate, label))
}
