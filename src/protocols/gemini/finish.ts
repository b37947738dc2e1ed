import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import type { FinishReason } from '../../canonical/event.ts'
import { readFinishWord } from '../finish-words.ts'

/**
 * The meaning of the vendor's finish reason; an error if the answer broke off. STOP is also the reason of tool calls,
 * so the content decides.
 *
 * https://ai.google.dev/api/generate-content#FinishReason, read 2026-11-21
 */
export function finishOf(
  reason: string,
  answer: { message: string | undefined; isBlocked: boolean; hasCalls: boolean; hasContent: boolean },
): FinishReason | GatewayError {
  const meaning = readFinishWord(reason)
  if (answer.isBlocked || meaning === 'content_filter') return 'content_filter'
  if (reason === 'MAX_TOKENS') return 'length'
  if (meaning === undefined || (reason !== 'STOP' && !answer.hasContent))
    return failed(reason, answer.message)
  if (meaning === 'stop' && answer.hasCalls) return 'tool_calls'
  return meaning
}

const messageCharactersMax = 300

function failed(reason: string, message: string | undefined): GatewayError {
  const more = message === undefined ? '' : `: ${message.slice(0, messageCharactersMax)}`
  return gatewayError('upstream_broke_off', { how: `with ${reason.slice(0, 60)}${more}` })
}
