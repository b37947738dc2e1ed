import type { GatewayError } from '../canonical/error.ts'
import type { ImageRequest } from '../canonical/image.ts'
import { asGatewayError } from '../pipeline/ending.ts'
import type { ImageContext, ImageSide } from '../protocols/image-protocol.ts'
import { imageSide } from '../protocols/index.ts'
import type { Candidate } from '../routing/candidates.ts'

/**
 * Returns the first target's encoding error if no target can encode the request. Undefined if one can, or if
 * there are no targets.
 */
export function findEncodingError(
  targets: readonly Candidate[],
  request: ImageRequest,
): GatewayError | undefined {
  let first: GatewayError | undefined
  for (const target of targets) {
    const side = imageSide(target.protocol)
    if (side === undefined) continue
    const error = encodingErrorOf(side, request, target)
    if (error === undefined) return undefined
    first ??= error
  }
  return first
}

/**
 * Returns the error of encoding the largest call that would be sent to this target, or undefined if it can be
 * encoded.
 */
export function encodingErrorOf(
  side: ImageSide,
  request: ImageRequest,
  target: Candidate,
): GatewayError | undefined {
  try {
    side.encodeRequest(request, callContext(request, target, side.imagesPerCall ?? request.count))
    return undefined
  } catch (error) {
    return asGatewayError(error)
  }
}

export function callContext(
  request: ImageRequest,
  { upstreamModel }: Candidate,
  count: number,
): ImageContext {
  return { upstreamModel, count, stream: request.stream && request.partialImages > 0 }
}
