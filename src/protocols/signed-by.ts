import type { ReasoningSignature } from '../canonical/chat.ts'
import type { ProtocolName } from './protocol.ts'

/**
 * Whether the signature comes from this model over this protocol. A signature without a model comes from a
 * client of the same protocol.
 */
export function isSignedBy(
  signature: ReasoningSignature | undefined,
  protocol: ProtocolName,
  model: string,
): signature is ReasoningSignature {
  return signature?.protocol === protocol && (signature.model === undefined || signature.model === model)
}
