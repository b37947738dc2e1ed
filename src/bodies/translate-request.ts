import type { TranslationNote } from '../canonical/chat.ts'
import { gatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import type { Traits } from '../canonical/traits.ts'
import type { Envelope } from '../protocols/envelope.ts'
import { upstreamSide } from '../protocols/index.ts'
import type { KeptOptions } from '../protocols/kept-options.ts'
import type { ClientSide, ProtocolName } from '../protocols/protocol.ts'
import type { ToolNames } from '../protocols/tool-names.ts'

/** What a translation reads, besides its target. */
export interface TranslationInput {
  client: ClientSide
  /** The client's body, parsed. */
  body: Json
  envelope: Envelope
  /** Refuse the request instead of dropping a field. */
  strict: boolean
  /** The gateway keeps the answer. Default false. */
  isKept?: boolean
  maxOutputTokensDefault: number
  /**
   * Names the session to a cache of prompts. Upstreams that take such a key get it, unless the client gives
   * one.
   */
  cacheKey?: string | undefined
}

/** The format of a request for an upstream, the upstream's name of the model, and what it takes. */
export interface TranslationTarget {
  protocol: ProtocolName
  upstreamModel: string
  traits: Traits
}

export interface TranslatedRequest {
  body: Json
  notes: TranslationNote[]
  /** The upstream's names of tools. */
  tools: ToolNames
  asked: AskedAnswer
}

/** The parts of a request that its answer needs. They are small where a large body is large. */
export interface AskedAnswer {
  /** As in `AnswerContext`. */
  body: Json
  keeps: KeptOptions | undefined
}

/**
 * Translate a request into the format of a target. Throws GatewayError `invalid_request` or
 * `unsupported_parameter`, which names the path in the client's request.
 */
export function translateRequest(input: TranslationInput, target: TranslationTarget): TranslatedRequest {
  const { client, maxOutputTokensDefault } = input
  const { upstreamModel, traits } = target
  const request = client.decodeRequest(input.body, {
    envelope: input.envelope,
    isKept: input.isKept ?? false,
  })
  const isKeyed = request.cacheKey === undefined && traits.takes?.cacheKey === true
  if (isKeyed) request.cacheKey = input.cacheKey
  const { body, notes, tools } = upstreamSide(target.protocol).encodeRequest(request, {
    upstreamModel,
    traits,
    maxOutputTokensDefault,
  })
  if (isKeyed && input.cacheKey !== undefined) {
    const path = request.names.cacheKey ?? 'prompt_cache_key'
    notes.push({
      path,
      action: 'defaulted',
      reason: 'a hash of the session, by which the upstream finds its cache',
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
