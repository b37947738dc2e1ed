import type { TranslationNote } from '../canonical/chat.ts'
import { gatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import type { Traits } from '../canonical/traits.ts'
import type { Envelope } from '../protocols/envelope.ts'
import { upstreamSide } from '../protocols/index.ts'
import type { KeptOptions } from '../protocols/kept-options.ts'
import type { ClientSide, ProtocolName } from '../protocols/protocol.ts'
import type { ToolNames } from '../protocols/tool-names.ts'
import type { TurnMemo } from '../protocols/turn-memo.ts'

/** The input of a translation, besides its target. */
export interface TranslationInput {
  client: ClientSide
  /** The client's parsed body. */
  body: Json
  envelope: Envelope
  /** Whether to refuse the request instead of dropping a field. */
  strict: boolean
  /** Whether the gateway stores the response. Default: false. */
  isKept?: boolean
  maxOutputTokensDefault: number
  /**
   * Identifies the session for prompt caching. It is sent to upstreams that accept such a key, unless the
   * client sets one.
   */
  cacheKey?: string | undefined
  /** Of a remembered conversation. */
  memo?: TurnMemo | undefined
}

/** The upstream's format, its name for the model, and the model's traits. */
export interface TranslationTarget {
  protocol: ProtocolName
  upstreamModel: string
  traits: Traits
}

export interface TranslatedRequest {
  body: Json
  notes: TranslationNote[]
  /** The upstream's names for the tools. */
  tools: ToolNames
  asked: AskedAnswer
}

/** The parts of a request that are needed for its response. They are small even if the body is large. */
export interface AskedAnswer {
  /** As in `AnswerContext`. */
  body: Json
  keeps: KeptOptions | undefined
}

/**
 * Translates a request into the format of a target. Throws a GatewayError `invalid_request` or
 * `unsupported_parameter` that names the path in the client's request.
 */
export function translateRequest(input: TranslationInput, target: TranslationTarget): TranslatedRequest {
  const { client, maxOutputTokensDefault } = input
  const { upstreamModel, traits } = target
  const request = client.decodeRequest(input.body, {
    envelope: input.envelope,
    isKept: input.isKept ?? false,
    memo: input.memo,
  })
  const isKeyed = request.cacheKey === undefined && traits.takes?.cacheKey === true
  if (isKeyed) request.cacheKey = input.cacheKey
  const { body, notes, tools } = upstreamSide(target.protocol).encodeRequest(request, {
    upstreamModel,
    traits,
    maxOutputTokensDefault,
    memo: input.memo,
  })
  if (isKeyed && input.cacheKey !== undefined) {
    const path = request.names.cacheKey ?? 'prompt_cache_key'
    notes.push({
      path,
      action: 'defaulted',
      reason: 'set to a hash of the session, which lets the upstream find its cache',
    })
  }
  if (input.strict) refuseLosses(notes)
  const asked = {
    body: client.answerSettings(input.body),
    keeps: upstreamSide(target.protocol).keeps(request, traits),
  }
  return { body, notes, tools, asked }
}

function refuseLosses(notes: readonly TranslationNote[]): void {
  const lost = notes.find((note) => note.action === 'dropped')
  if (lost === undefined) return
  throw gatewayError('loss_refused', { path: lost.path, why: lost.reason }, { field: lost.path })
}
