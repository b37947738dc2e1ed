import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { openaiErrors } from './openai-errors.ts'
import { errorDecoder } from './upstream-errors.ts'

/**
 * Codes of moderation: OpenAI's, then those of Azure and its other image models.
 * https://platform.openai.com/docs/guides/image-generation (content moderation),
 * https://learn.microsoft.com/azure/ai-foundry/openai/how-to/dall-e (content filtering)
 */
const moderated =
  /moderation_blocked|content_?policy|policy_violation|bio_policy|content_?filter|content_?safety|responsibleaipolicy/i

/** Errors of image models: those of OpenAI's formats, and more codes of moderation. */
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

/** The error of an answer without an image: the model's own words for why, if it gave any. */
export function notMade(words: string | undefined, isFiltered: boolean): GatewayError {
  if (words !== undefined) {
    const short = words.length > quotedCharactersMax ? `${words.slice(0, quotedCharactersMax)}...` : words
    return gatewayError('image_declined', { words: short })
  }
  return gatewayError(isFiltered ? 'image_moderated' : 'upstream_image_missing')
}

const quotedCharactersMax = 300
