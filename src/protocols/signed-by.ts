import type { ReasoningSignature } from '../canonical/chat.ts'
import type { ProtocolName } from './protocol.ts'

/**
 * Whether this model of the protocol made the signature. One without a model is from a client of the same
 * protocol.
 */
export function isSignedBy(
  signature: ReasoningSignature | undefined,
  protocol: ProtocolName,
  model: string,
): signature is ReasoningSignature {
  return signature?.protocol === protocol && (signature.model === undefined || signature.model === model)
}
