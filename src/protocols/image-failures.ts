import { GatewayError } from '../canonical/error.ts'
import { isRecord, parseObject, textOf } from '../canonical/json.ts'
import { decodeError, decodeStreamError } from './openai-errors.ts'

/**
 * What an upstream's refusal to make an image means for the caller: as for text, but that a moderation has words of its
 * own here.
 */
export function decodeImageError(
  status: number,
  headers: Record<string, string | string[] | undefined>,
  body: Buffer,
): GatewayError {
  const error = decodeError(status, headers, body)
  const told = parseObject(body.toString('utf8'))
  const code = isRecord(told?.error) ? `${textOf(told.error.type)} ${textOf(told.error.code)}` : ''
  if (error.kind !== 'invalid_request' || !moderated.test(code)) return error
  return new GatewayError('content_filtered', error.message, {
    upstreamStatus: status,
    ...(error.code === undefined ? {} : { code: error.code }),
  })
}

/** What an `error` inside a stream, or inside an answer of status 200, means. */
export function decodeImageFailure(value: unknown): GatewayError {
  const told = isRecord(value) ? value : {}
  const words = `${textOf(told.type)} ${textOf(told.code)}`
  const message = textOf(told.message)?.slice(0, messageCharactersMax)
  const code = textOf(told.code)
  if (message !== undefined && (moderated.test(words) || /image_generation_user_error/.test(words))) {
    const kind = moderated.test(words) ? 'content_filtered' : 'invalid_request'
    return new GatewayError(kind, message, code === undefined ? {} : { code })
  }
  return decodeStreamError(value)
}

/** An answer without an image: the model's own words for why, or nothing at all. */
export function notMade(words: string | undefined, isFiltered: boolean): GatewayError {
  if (words !== undefined) {
    const short = words.length > quotedCharactersMax ? `${words.slice(0, quotedCharactersMax)}…` : words
    return new GatewayError('content_filtered', `The model made no image and answered: ${short}`)
  }
  return isFiltered
    ? new GatewayError(
        'content_filtered',
        "The upstream's moderation held the image back: change the prompt.",
      )
    : new GatewayError('upstream_error', 'The upstream answered without an image.')
}

const messageCharactersMax = 8192
const quotedCharactersMax = 300

/**
 * OpenAI's codes, then Azure's and those of its other image models:
 * https://platform.openai.com/docs/guides/image-generation (content moderation),
 * https://learn.microsoft.com/azure/ai-foundry/openai/how-to/dall-e (content filtering)
 */
const moderated =
  /moderation_blocked|content_?policy|policy_violation|bio_policy|content_?filter|content_?safety|responsibleaipolicy/i
