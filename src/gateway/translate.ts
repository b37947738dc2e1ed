import type { TranslationNote } from '../canonical/chat.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import type { Envelope } from '../protocols/envelope.ts'
import { upstreamSide } from '../protocols/index.ts'
import type { AnswerContext } from '../protocols/protocol.ts'
import type { Target } from '../routing/candidates.ts'
import type { AnswerReader } from './answer-reader.ts'
import type { Translatable } from './translatable.ts'
import { TranslatingReader } from './translating-reader.ts'

export interface Translation {
  body: Json
  notes: TranslationNote[]
  reader: AnswerReader
}

/**
 * Translate a request into the format of a target. The reader translates the answer back.
 * Throws GatewayError `invalid_request` or `unsupported_parameter`, which names the path in the client's request.
 */
export function translate(
  wanted: Translatable,
  target: Pick<Target, 'protocol' | 'upstreamModel'>,
): Translation {
  const side = upstreamSide(target.protocol)
  const request = wanted.client.decodeRequest(wanted.body, { envelope: wanted.envelope })
  const { upstreamModel } = target
  const { maxOutputTokensDefault } = wanted
  const { body, notes, tools } = side.encodeRequest(request, { upstreamModel, maxOutputTokensDefault })
  if (wanted.strict) refuseLosses(notes)
  const answer: AnswerContext = { ...wanted, request }
  return { body, notes, reader: new TranslatingReader(wanted, side, { upstreamModel, tools }, answer) }
}

/**
 * A reader for a target of the client's own format that streams unasked, or does not stream although we asked: it rewrites
 * the answer as the other kind. Undefined when the request does not decode, or when its answer has parts that a rewrite
 * would lose (several choices, logprobs). `keepsAnswer`: the upstream keeps the answer, under its own id.
 */
export function readOtherKind(
  wanted: Translatable,
  target: Pick<Target, 'protocol' | 'upstreamModel'>,
  keepsAnswer: boolean | undefined,
): AnswerReader | undefined {
  try {
    const request = wanted.client.decodeRequest(wanted.body, { envelope: wanted.envelope })
    if (request.choices > 1 || request.logprobs !== undefined) return undefined
    const { upstreamModel } = target
    const answer = { ...wanted, envelope: ownSignatures(wanted.envelope), request }
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

/** Signatures go to a client of their own format without an envelope, except in Chat Completions, which has no field for them. */
function ownSignatures(envelope: Envelope): Envelope {
  return {
    ...envelope,
    wrap: (signature) => (signature.protocol === 'openai-chat' ? envelope.wrap(signature) : signature.value),
  }
}

function refuseLosses(notes: readonly TranslationNote[]): void {
  const lost = notes.find((note) => note.action === 'dropped')
  if (lost === undefined) return
  throw new GatewayError(
    'unsupported_parameter',
    `${lost.path}: would be dropped (${lost.reason}), and this key or x-tollgate-strict asks to refuse that. Leave it out, or let it be dropped.`,
    { field: lost.path },
  )
}
