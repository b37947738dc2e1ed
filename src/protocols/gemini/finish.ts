import { GatewayError } from '../../canonical/error.ts'
import type { FinishReason } from '../../canonical/event.ts'

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
  if (answer.isBlocked || filterReasons.has(reason)) return 'content_filter'
  if (reason === 'MAX_TOKENS') return 'length'
  const isFailed = failReasons.has(reason) || (reason !== 'STOP' && !answer.hasContent)
  if (isFailed) return failed(reason, answer.message)
  return answer.hasCalls ? 'tool_calls' : 'stop'
}

const filterReasons: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])

const failReasons: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'NO_IMAGE',
  'IMAGE_OTHER',
])

const messageCharactersMax = 300

function failed(reason: string, message: string | undefined): GatewayError {
  const more = message === undefined ? '' : `: ${message.slice(0, messageCharactersMax)}`
  return new GatewayError(
    'upstream_error',
    `The upstream broke off its answer with ${reason.slice(0, 60)}${more}`,
  )
}
