import type { TranslationNote } from '../../canonical/chat.ts'
import type { ImageAnswer, ImageRequest } from '../../canonical/image.ts'
import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { imageSource } from '../base64-extractor.ts'
import { readFinishWord } from '../finish-words.ts'
import { decodeImageError, decodeImageFailure, notMade } from '../image-failures.ts'
import {
  dropped,
  type Fate,
  type Fates,
  noteMembers,
  ownDelivery,
  said,
  severalCalls,
} from '../image-notes.ts'
import type { ImageContext, ImageSide } from '../image-protocol.ts'
import { firstChoice, usageIn } from './wire.ts'

/**
 * Models of `POST /v1/chat/completions` that return images, as served by OpenRouter and others. OpenAI's own
 * models do not generate images in this format.
 *
 * https://openrouter.ai/docs/features/multimodal/image-generation, read 2026-11-21
 */
export const openaiChatImages: ImageSide = {
  name: 'openai-chat',
  path: '/chat/completions',
  imagesPerCall: 1,
  encodeRequest,
  decodeAnswer,
  decodeError: decodeImageError,
}

function encodeRequest(
  request: ImageRequest,
  { upstreamModel }: ImageContext,
): { body: Json; notes: TranslationNote[] } {
  const notes = noteMembers(request.body, fates)
  const { user, safetyIdentifier } = request
  const body: Json = {
    model: upstreamModel,
    messages: [{ role: 'user', content: request.prompt }],
    modalities: ['image', 'text'],
    ...(user === undefined ? {} : { user }),
    ...(safetyIdentifier === undefined ? {} : { safety_identifier: safetyIdentifier }),
  }
  return { body, notes }
}

/** Preferences are dropped. A property of the file that the client depends on is refused. */
const fates: Fates = {
  model: said,
  prompt: said,
  user: said,
  safety_identifier: said,
  n: severalCalls,
  size: (value) =>
    value === 'auto' ? leftToModel() : refusedHere('a chat model chooses the size of the image itself'),
  background: (value) =>
    value === 'auto' || value === 'opaque'
      ? leftToModel()
      : refusedHere('a chat model has no setting for a transparent background'),
  output_format: refusedHere('a chat model chooses the file format itself'),
  quality: (value) =>
    value === 'auto' ? leftToModel() : dropped('the Chat Completions format has no quality setting'),
  style: dropped('the Chat Completions format has no style setting: describe the style in the prompt'),
  moderation: dropped('the Chat Completions format has no moderation levels'),
  output_compression: dropped('the Chat Completions format has no image compression setting'),
  response_format: ownDelivery,
  stream: (value) =>
    value === false
      ? said
      : { action: 'emulated', reason: 'the gateway creates the stream from a complete answer' },
  partial_images: (value) =>
    value === 0 ? said : dropped('the Chat Completions format has no image previews'),
}

function leftToModel(): Fate {
  return { action: 'mapped', reason: 'not sent: chat models do this by default' }
}

function refusedHere(reason: string): Fate {
  return { action: 'refused', reason: `${reason}: leave it out, or use another model` }
}

function decodeAnswer(body: Json): ImageAnswer {
  if (isRecord(body.error)) throw decodeImageFailure(body.error)
  const choice = firstChoice(body)
  if (isRecord(choice?.error)) throw decodeImageFailure(choice.error)
  const message = isRecord(choice?.message) ? choice.message : {}
  const images = [...recordsOf(message.images), ...recordsOf(message.content)].flatMap(urlOf)
  if (images.length === 0) {
    const isFiltered = readFinishWord(textOf(choice?.finish_reason) ?? '') === 'content_filter'
    throw notMade(wordsOf(message), isFiltered)
  }
  return {
    images: images.map((url) => ({ source: imageSource(url), revisedPrompt: undefined })),
    usage: usageIn(body),
    size: undefined,
    quality: undefined,
    background: undefined,
    outputFormat: undefined,
    servedModel: textOf(body.model),
  }
}

/** Some upstreams send the URL without an object around it. */
function urlOf({ image_url: image }: Json): string[] {
  const url = textOf(isRecord(image) ? image.url : image)
  return url === undefined ? [] : [url]
}

function wordsOf({ refusal, content }: Json): string | undefined {
  const parts = recordsOf(content).map((part) => textOf(part.text) ?? textOf(part.refusal) ?? '')
  return textOf(refusal) ?? textOf(content) ?? textOf(parts.join(''))
}
