import type { ReasoningSignature } from '../../canonical/chat.ts'
import type { Delta, Finish } from '../../canonical/event.ts'
import type { Json } from '../../canonical/json.ts'
import { estimateTokens } from '../../canonical/tokens.ts'
import type { Usage } from '../../canonical/usage.ts'
import type { AnswerContext } from '../protocol.ts'
import { encodeUsage, stopReasons } from './wire.ts'

/** What whole and streamed answers have in common. */

export function messageHead({ requestId, model }: AnswerContext): Json {
  return {
    id: `msg_${requestId.replace(/[^a-zA-Z0-9]/g, '')}`,
    type: 'message',
    role: 'assistant',
    model,
  }
}

/** The place for opaque values of a thought, which only we can open. */
export function signatureText(signature: ReasoningSignature, { envelope }: AnswerContext): string {
  return envelope.wrap(signature)
}

/** The passage of the source is not told by other formats, nor is the vendor's index of it. */
export function encodeCitation({ url, title }: Extract<Delta, { type: 'citation' }>): Json {
  return {
    type: 'web_search_result_location',
    url,
    title: title ?? null,
    cited_text: '',
    encrypted_index: '',
  }
}

/** Why the answer ended; `refusalText` is what the model said instead of an answer. */
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
 * The counts of an answer: the upstream's, else our estimates from the request and from the characters sent. Never
 * zero all over, which clients take for a broken answer.
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
