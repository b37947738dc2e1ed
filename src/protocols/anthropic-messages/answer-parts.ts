import type { ReasoningSignature } from '../../canonical/chat.ts'
import type { Citation, Finish } from '../../canonical/event.ts'
import type { Json } from '../../canonical/json.ts'
import { estimateTokens } from '../../canonical/tokens.ts'
import type { Usage } from '../../canonical/usage.ts'
import type { CollectedSearch } from '../collect.ts'
import type { AnswerContext } from '../protocol.ts'
import { searchToolName } from './web-search.ts'
import { type CallIds, encodeUsage, protocolName, stopReasons } from './wire.ts'

/** Parts shared by complete and streamed answers. */

export function messageHead({ requestId, model }: AnswerContext): Json {
  return {
    id: `msg_${requestId.replace(/[^a-zA-Z0-9]/g, '')}`,
    type: 'message',
    role: 'assistant',
    model,
  }
}

/** The signature wrapped in an envelope, for the members `signature` and `data`. */
export function signatureText(signature: ReasoningSignature, { envelope }: AnswerContext): string {
  return envelope.wrap(signature)
}

/**
 * Whether reasoning without text becomes `redacted_thinking`, the vendor's own encrypted form. Signed
 * reasoning of other vendors becomes `thinking` with an empty text, because not every client supports
 * `redacted_thinking`. This vendor's models do the same if they do not show their thoughts.
 */
export function isRedacted({ protocol, kind }: ReasoningSignature): boolean {
  return protocol === protocolName && kind === 'encrypted'
}

/** Most formats do not provide the cited text of the source. */
export function encodeCitation({ url, title, citedText }: Citation, context: AnswerContext): Json {
  return {
    type: 'web_search_result_location',
    url,
    title: title ?? null,
    cited_text: citedText ?? '',
    encrypted_index: foreignSeal(context),
  }
}

/**
 * Replaces the vendor's own encrypted page content. The vendor would refuse any other text here, so this mark
 * lets the gateway remove the page from later requests to the vendor: see `withoutEnvelopes`.
 */
function foreignSeal({ envelope }: AnswerContext): string {
  return envelope.wrap({ protocol: 'web-search', model: undefined, kind: 'encrypted', value: 'none' })
}

/** Means that the model itself called the tool. */
export const direct = { type: 'direct' }

/** The call of a web search. If the answer is streamed, its input is sent in deltas. */
export function searchCall(id: string, input: Json): Json {
  return { type: 'server_tool_use', id, name: searchToolName, input, caller: direct }
}

export function searchInput({ queries }: CollectedSearch): Json {
  return { query: queries.join('; ') }
}

export function searchResult(id: string, search: CollectedSearch, context: AnswerContext): Json {
  const { sources, failure } = search
  return {
    type: 'web_search_tool_result',
    tool_use_id: id,
    content:
      failure === undefined
        ? sources.map((page) => encodePage(page, context))
        : { type: 'web_search_tool_result_error', error_code: failure },
    caller: direct,
  }
}

function encodePage({ url, title, age }: CollectedSearch['sources'][number], context: AnswerContext): Json {
  return {
    type: 'web_search_result',
    url,
    title: title ?? url,
    encrypted_content: foreignSeal(context),
    page_age: age ?? null,
  }
}

/** The prefix of the vendor's ids for such calls. */
export function searchId(id: string, ids: CallIds): string {
  return ids.take(`srvtoolu_${id.replace(/^srvtoolu_/, '')}`)
}

/** The stop reason and its details. `refusalText` is the text of the model's refusal, if any. */
export function encodeStop(finish: Finish, refusalText: string | undefined): Json {
  const { reason, stopSequence, upstreamReason } = finish
  const isFull = reason === 'length' && upstreamReason?.includes('context_window') === true
  const stopReason =
    refusalText !== undefined
      ? stopReasons.refusal
      : isFull
        ? 'model_context_window_exceeded'
        : stopReasons[reason]
  const isRefusal = stopReason === stopReasons.refusal
  return {
    stop_reason: stopReason,
    stop_sequence: stopReason === stopReasons.stop_sequence ? (stopSequence ?? null) : null,
    stop_details: isRefusal ? { type: 'refusal', category: null, explanation: refusalText ?? null } : null,
  }
}

/**
 * The counts of an answer, either the upstream's or our estimates based on the request and the number of
 * characters sent. They are never all zero, because clients would treat that as a broken answer.
 */
export function answerUsage(
  usage: Usage | undefined,
  context: AnswerContext,
  outputCharacters: number,
): Json {
  return encodeUsage(
    usage ?? {
      input: Math.max(1, context.inputTokensEstimate),
      cacheRead: 0,
      cacheWrite: 0,
      output: outputEstimate(outputCharacters),
      reasoning: 0,
    },
  )
}

/** Always at least 1. */
export function outputEstimate(characters: number): number {
  return Math.max(1, estimateTokens(characters))
}
