import type { TranslationNote } from '../../canonical/chat.ts'
import type { ImageRequest } from '../../canonical/image.ts'
import type { Json } from '../../canonical/json.ts'
import type { ImageContext } from '../image-protocol.ts'

/**
 * Encodes the client's members, including unknown ones, with the upstream's model name and the image count of
 * this call. No other members are added, because some models of the format refuse members that others need.
 */
export function encodeRequest(
  request: ImageRequest,
  context: ImageContext,
): { body: Json; notes: TranslationNote[] } {
  const { n, stream: _stream, partial_images: previews, ...members } = request.body
  const notes: TranslationNote[] = []
  if (!context.stream && request.partialImages > 0) {
    notes.push({
      path: 'partial_images',
      action: 'dropped',
      reason: 'the gateway does not request a stream from this channel, so there are no previews',
    })
  }
  const hasCount = typeof n === 'number' || context.count !== 1
  return {
    body: {
      ...members,
      model: context.upstreamModel,
      ...(hasCount ? { n: context.count } : {}),
      ...(context.stream ? { stream: true } : {}),
      ...(context.stream && typeof previews === 'number' ? { partial_images: previews } : {}),
    },
    notes,
  }
}
