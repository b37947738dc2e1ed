import type { ReasoningSignature } from '../../canonical/chat.ts'
import type { Delta, Finish } from '../../canonical/event.ts'
import type { Json } from '../../canonical/json.ts'
import { estimateTokens } from '../../canonical/tokens.ts'
import type { Usage } from '../../canonical/usage.ts'
import type { AnswerContext } from '../protocol.ts'
import { encodeUsage, protocolName, stopReasons } from './wire.ts'

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
 * Whether a thought without text is `redacted_thinking`, the vendor's own encrypted form. Signed thoughts of other vendors
 * become `thinking` with an empty text, as this vendor's models send when they show no thoughts: not every client knows
 * `redacted_thinking`.
 */
export function isRedacted({ protocol, kind }: ReasoningSignature): boolean {
  return protocol === protocolName && kind === 'encrypted'
}

/** Other formats give neither the quoted passage nor the vendor's index of the source. */
export function encodeCitation({ url, title }: Extract<Delta, { type: 'citation' }>): Json {
  return {
    type: 'web_search_result_location',
    url,
    title: title ?? null,
    cited_text: '',
    encrypted_index: '',
  }
}

/** The reason of the end. `refusalText` is the model's refusal, if it refused. */
export function encodeStop({ reason, stopSequence }: Finish, refusalText: string | undefined): Json {
  const stopReason = refusalText === undefined ? stopReasons[reason] : stopReasons.refusal
  const isRefusal = stopReason === stopReasons.refusal
  return {
    stop_reason: stopReason,
    stop_sequence: stopReason === stopReasons.stop_sequence ? (stopSequence ?? null) : null,
    stop_details: isRefusal ? { type: 'refusal', category: null, explanation: refusalText ?? null } : null,
  }
}

/**
 * The counts of an answer: the upstream's, else our estimates from the request and from the sent characters. They are
 * never all zero, because clients take that for a broken answer.
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
