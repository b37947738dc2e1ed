import type { ReasoningSignature } from '../../canonical/chat.ts'
import type { Citation, Finish } from '../../canonical/event.ts'
import type { Json } from '../../canonical/json.ts'
import { estimateTokens } from '../../canonical/tokens.ts'
import type { Usage } from '../../canonical/usage.ts'
import type { CollectedSearch } from '../collect.ts'
import type { AnswerContext } from '../protocol.ts'
import { searchToolName } from './web-search.ts'
import { type CallIds, encodeUsage, protocolName, stopReasons } from './wire.ts'

/** Parts that whole and streamed answers share. */

export function messageHead({ requestId, model }: AnswerContext): Json {
  return {
    id: `msg_${requestId.replace(/[^a-zA-Z0-9]/g, '')}`,
    type: 'message',
    role: 'assistant',
    model,
  }
}

/** The signature in an envelope, for the members `signature` and `data`. */
export function signatureText(signature: ReasoningSignature, { envelope }: AnswerContext): string {
  return envelope.wrap(signature)
}

/**
 * Whether a thought without text is `redacted_thinking`, the vendor's own encrypted form. Signed thoughts of
 * other vendors become `thinking` with an empty text, as this vendor's models send when they show no
 * thoughts: not every client knows `redacted_thinking`.
 */
export function isRedacted({ protocol, kind }: ReasoningSignature): boolean {
  return protocol === protocolName && kind === 'encrypted'
}

/** Most formats do not give the words of the source. */
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
 * Takes the place of the vendor's own sealed text of a page. The vendor would refuse any other text there,
 * so the mark lets the gateway take the page out of a later request to it: see `withoutEnvelopes`.
 */
function foreignSeal({ envelope }: AnswerContext): string {
  return envelope.wrap({ protocol: 'web-search', model: undefined, kind: 'encrypted', value: 'none' })
}

/** The model itself has called the tool. */
export const direct = { type: 'direct' }

/** The call of a web search. Its input comes in deltas if the answer is streamed. */
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

/** The vendor's ids of such calls begin with this. */
export function searchId(id: string, ids: CallIds): string {
  return ids.take(`srvtoolu_${id.replace(/^srvtoolu_/, '')}`)
}

/** The reason of the end. `refusalText` is the model's refusal, if it refused. */
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
 * The counts of an answer: the upstream's, else our estimates from the request and from the sent characters.
 * They are never all zero, because clients take that for a broken answer.
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

/** At least 1. */
export function outputEstimate(characters: number): number {
  return Math.max(1, estimateTokens(characters))
}
