import type { GatewayError } from '../../canonical/error.ts'
import { isRecord, type Json, textOf } from '../../canonical/json.ts'
import type { ErrorKind } from '../../canonical/reasons/kinds.ts'
import type { RenderedError } from '../protocol.ts'
import { errorHeaders, statusOf } from '../render-error.ts'
import { errorDecoder } from '../upstream-errors.ts'

/**
 * Renders an error such that the vendor's SDK raises the appropriate class: `{ type: 'error', error,
 * request_id }`.
 */
export function encodeError(error: GatewayError, requestId: string): RenderedError {
  return {
    status: error.kind === 'upstream_overloaded' ? 529 : statusOf(error),
    headers: { 'request-id': requestId, 'x-request-id': requestId, ...errorHeaders(error) },
    body: envelope(error, requestId),
  }
}

/** Renders an error as an event that ends a stream. The SDK raises APIError for an event named `error`. */
export function encodeStreamError(error: GatewayError, requestId: string): Buffer {
  return Buffer.from(streamErrorText(error, requestId))
}

/** The same event as text. */
export function streamErrorText(error: GatewayError, requestId: string): string {
  return `event: error\ndata: ${JSON.stringify(envelope(error, requestId))}\n\n`
}

/** https://platform.claude.com/docs/en/api/errors, read 2026-11-21 */
const typeOf: Readonly<Record<ErrorKind, string>> = {
  invalid_request: 'invalid_request_error',
  unsupported_parameter: 'invalid_request_error',
  unauthenticated: 'authentication_error',
  permission_denied: 'permission_error',
  insufficient_credit: 'billing_error',
  unknown_path: 'not_found_error',
  model_not_found: 'not_found_error',
  endpoint_not_supported: 'invalid_request_error',
  request_too_large: 'request_too_large',
  request_in_progress: 'conflict_error',
  idempotency_mismatch: 'invalid_request_error',
  rate_limited: 'rate_limit_error',
  upstream_error: 'api_error',
  upstream_overloaded: 'overloaded_error',
  upstream_timeout: 'timeout_error',
  content_filtered: 'invalid_request_error',
  unavailable: 'api_error',
  internal: 'api_error',
}

export const { decodeError, decodeStreamError } = errorDecoder({
  read: ({ type, details }) => ({
    type: textOf(type),
    code: isRecord(details) ? textOf(details.error_code) : undefined,
  }),
  refusals: [
    { words: /^billing_error\b/, means: 'credential_refused' },
    // The vendor returns 400 with this text if the account has no credit.
    { message: /credit balance is too low/i, means: 'credential_refused' },
    { status: [404], message: /model/i, means: 'model_not_found' },
    { status: [400, 404, 422], message: /content filtering policy/i, means: 'content_filtered' },
  ],
  failures: [
    { words: /authentication|permission|billing/, means: 'credential_refused' },
    { words: /rate_?limit/, means: 'rate_limited' },
    { words: /overload/, means: 'upstream_overloaded' },
    { words: /timeout/, means: 'upstream_timeout' },
    { message: /content filtering policy/i, means: 'content_filtered' },
  ],
  contextTooLong: /^prompt is too long/i,
})

/** The matching time of these patterns can grow quadratically with the length of the text. */
const matchedCharactersMax = 2000

function envelope(error: GatewayError, requestId: string): Json {
  const details = error.code === undefined ? {} : { details: { error_code: error.code, ...error.details } }
  return {
    type: 'error',
    error: { type: typeOf[error.kind], message: messageOf(error), ...details },
    request_id: requestId,
  }
}

/**
 * Agents that use this format compact their context when they see this text. Other vendors word the error
 * differently.
 */
function messageOf({ code, message: whole }: GatewayError): string {
  if (code !== 'context_length_exceeded' || /prompt is too long/i.test(whole)) return whole
  const message = whole.slice(0, matchedCharactersMax)
  const most = /(?:maximum context length|maximum number of tokens)\D{0,40}(\d+)|(\d+) tokens? maximum/i.exec(
    message,
  )
  const given =
    /(?:resulted in|requested|has|contains|is|token count) (?:about )?\(?(\d+)(?:(?: input)? tokens|\))/i.exec(
      most === null ? message : message.slice(0, most.index) + message.slice(most.index + most[0].length),
    )
  const numbers = most && given ? `: ${given[1]} tokens > ${most[1] ?? most[2]} maximum` : ''
  return `prompt is too long${numbers}. ${whole}`
}
