import type { AnswerCopy } from '../bodies/answer-copy.ts'
import type { Admitted } from './admit.ts'
import type { Gateway } from './gateway.ts'
import { knownSecrets } from './redact-error.ts'

/**
 * Begins a copy of an answer for the usage log. Returns undefined when neither its key nor its group enables
 * that.
 */
export function captureAnswer(
  { capturedAnswers }: Pick<Gateway, 'capturedAnswers'>,
  admitted: Admitted,
  streams: boolean,
): AnswerCopy | undefined {
  const { id, identity, group, endpoint } = admitted
  const { answers: format } = endpoint
  const isWanted = identity.captureAnswers ?? group.captureAnswers
  if (!isWanted || identity.capture !== 'content' || format === undefined) return undefined
  const { keyId } = identity
  return capturedAnswers.begin({ id, keyId, format, streams, secrets: () => knownSecrets(admitted) })
}
