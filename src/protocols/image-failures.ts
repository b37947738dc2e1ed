import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { openaiErrors } from './openai-errors.ts'
import { errorDecoder } from './upstream-errors.ts'

/**
 * Moderation error codes: OpenAI's, then those of Azure and its other image models.
 * https://platform.openai.com/docs/guides/image-generation (content moderation),
 * https://learn.microsoft.com/azure/ai-foundry/openai/how-to/dall-e (content filtering)
 */
const moderated =
  /moderation_blocked|content_?policy|policy_violation|bio_policy|content_?filter|content_?safety|responsibleaipolicy/i

/** Error patterns for image models: those of OpenAI's formats, and more moderation codes. */
export const { decodeError: decodeImageError, decodeStreamError: decodeImageFailure } = errorDecoder({
  ...openaiErrors,
  refusals: [
    ...openaiErrors.refusals,
    { status: [400, 404, 422], words: moderated, means: 'content_filtered' },
  ],
  failures: [
    { words: moderated, means: 'content_filtered', verbatim: true },
    { words: /image_generation_user_error/, means: 'invalid_request', verbatim: true },
    ...openaiErrors.failures,
  ],
})

/** The error for an answer without an image. Contains the model's explanation, if there is one. */
export function notMade(words: string | undefined, isFiltered: boolean): GatewayError {
  if (words !== undefined) {
    const short = words.length > quotedCharactersMax ? `${words.slice(0, quotedCharactersMax)}...` : words
    return gatewayError('image_declined', { words: short })
  }
  return gatewayError(isFiltered ? 'image_moderated' : 'upstream_image_missing')
}

const quotedCharactersMax = 300
