import { type AskedAnswer, type TranslationTarget, translateRequest } from '../../bodies/translate-request.ts'
import type { TranslationNote } from '../../canonical/chat.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { Json } from '../../canonical/json.ts'
import type { Traits } from '../../canonical/traits.ts'
import type { Model } from '../../catalog/snapshot.ts'
import type { Envelope } from '../../protocols/envelope.ts'
import { upstreamSide } from '../../protocols/index.ts'
import type { ClientTools } from '../../protocols/tool-names.ts'
import type { AnswerReader } from '../answer-reader.ts'
import type { AnswerForm, Translatable } from './answer-writer.ts'
import { TranslatingReader } from './translating-reader.ts'

export interface Translation {
  body: Json
  notes: TranslationNote[]
  reader: AnswerReader
}

/**
 * Translates a request into a target's format, like `translateRequest`. The reader translates the answer
 * back.
 */
export function translate(wanted: Translatable, target: TranslationTarget): Translation {
  const { body, notes, tools, asked } = translateRequest(wanted, target)
  return { body, notes, reader: readTranslated(wanted, target, tools, asked) }
}

/**
 * The bound of output tokens for formats that require one, when the client set none. It never exceeds the
 * money held for such a request, because `worstCaseNano` counts the model's own bound or, without one, its
 * context length.
 */
export function outputTokensDefault(
  model: Pick<Model, 'maxOutputTokens' | 'contextLength'> | undefined,
  { maxOutputTokens }: Traits,
  fallback: number,
): number {
  const known = maxOutputTokens ?? fallback
  return model?.maxOutputTokens ?? Math.min(known, model?.contextLength ?? known)
}

/** A reader for the answer to a translated request. `tools` maps the upstream's names of tools. */
export function readTranslated(
  form: AnswerForm,
  { protocol, upstreamModel }: TranslationTarget,
  tools: ClientTools,
  asked: AskedAnswer,
): AnswerReader {
  const { body, keeps } = asked
  return new TranslatingReader(
    form,
    upstreamSide(protocol),
    { upstreamModel, tools, keeps, answerSeed: form.requestId },
    { ...form, body },
  )
}

/**
 * A reader for a target of the client's own format that streams although it was not asked to, or does not
 * stream although it was. It rewrites the answer as the requested kind. Undefined when the request cannot be
 * decoded, or when the answer has parts that a rewrite would lose (several choices, logprobs). `keepsAnswer`:
 * the upstream keeps the answer under its own id.
 */
export function readOtherKind(
  wanted: Translatable,
  target: TranslationTarget,
  keepsAnswer: boolean | undefined,
): AnswerReader | undefined {
  try {
    const request = wanted.client.decodeRequest(wanted.body, { envelope: wanted.envelope })
    if (request.choices > 1 || request.logprobs !== undefined) return undefined
    const { upstreamModel } = target
    const answer = {
      ...wanted,
      envelope: ownSignatures(wanted.envelope),
      body: wanted.client.answerSettings(wanted.body),
    }
    return new TranslatingReader(
      wanted,
      upstreamSide(target.protocol),
      { upstreamModel },
      answer,
      keepsAnswer,
    )
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/**
 * Signatures are sent to a client of their own format without an envelope, except in Chat Completions, which
 * has no field for them.
 */
function ownSignatures(envelope: Envelope): Envelope {
  return {
    ...envelope,
    wrap: (signature) => (signature.protocol === 'openai-chat' ? envelope.wrap(signature) : signature.value),
  }
}
