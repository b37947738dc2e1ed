import type { TranslationNote } from '../../canonical/chat.ts'
import type { ImageRequest } from '../../canonical/image.ts'
import type { Json } from '../../canonical/json.ts'
import type { ImageContext } from '../image-protocol.ts'

/**
 * The client's own members, those included that we do not know, with the upstream's model name and this call's count.
 * What the client did not say stays unsaid: models of the format refuse members that others need.
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
      reason: 'this channel is not asked for a stream: there are no previews',
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
