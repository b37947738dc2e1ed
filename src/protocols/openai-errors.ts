import type { GatewayError } from '../canonical/error.ts'
import type { ErrorKind } from '../canonical/reasons/kinds.ts'
import type { RenderedError } from './protocol.ts'
import { errorHeaders, statusOf } from './render-error.ts'
import { type ErrorTable, errorDecoder, wordOf } from './upstream-errors.ts'

/**
 * The errors of OpenAI's formats, which share one envelope.
 *
 * https://platform.openai.com/docs/guides/error-codes/api-errors, read 2026-11-21
 */

/**
 * Renders an error such that the vendor's SDK raises the appropriate class: `{ error: { message, type, param,
 * code, request_id } }`.
 */
export function encodeError(error: GatewayError, requestId: string): RenderedError {
  return {
    status: statusOf(error),
    headers: { 'x-request-id': requestId, ...errorHeaders(error) },
    body: errorBody(error, requestId),
  }
}

interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string; request_id?: string }
}

/**
 * Renders only the envelope. `code`: the code that the vendor's SDK acts on, or else the reason. In addition
 * to the vendor's members, it contains the request id, because many clients show the whole body but no
 * headers. `requestId`: empty for an error that does not belong to a request.
 */
export function errorBody(error: GatewayError, requestId: string): ErrorBody {
  const [type, code] = typeAndCode[error.kind]
  const param = error.field ?? (error.kind === 'model_not_found' ? 'model' : null)
  const id = requestId === '' ? {} : { request_id: requestId }
  return {
    error: { message: messageOf(error), type, param, code: error.code ?? code ?? error.reason, ...id },
  }
}

/**
 * LiteLLM treats any `invalid_request_error` without the vendor's wording as a bad request, even with status
 * 401. https://github.com/BerriAI/litellm/blob/main/litellm/litellm_core_utils/exception_mapping_utils.py,
 * read 2026-11-28
 */
function messageOf({ kind, message }: GatewayError): string {
  return kind === 'unauthenticated' ? `Incorrect API key provided. ${message}` : message
}

const typeAndCode: Readonly<Record<ErrorKind, readonly [type: string, code: string | null]>> = {
  invalid_request: ['invalid_request_error', null],
  unsupported_parameter: ['invalid_request_error', 'unsupported_parameter'],
  unauthenticated: ['invalid_request_error', 'invalid_api_key'],
  permission_denied: ['permission_error', 'permission_denied'],
  insufficient_credit: ['insufficient_quota', 'insufficient_quota'],
  unknown_path: ['invalid_request_error', 'unknown_url'],
  model_not_found: ['invalid_request_error', 'model_not_found'],
  endpoint_not_supported: ['invalid_request_error', 'endpoint_not_supported'],
  request_too_large: ['invalid_request_error', 'request_too_large'],
  request_in_progress: ['invalid_request_error', 'request_in_progress'],
  idempotency_mismatch: ['invalid_request_error', 'idempotency_mismatch'],
  rate_limited: ['requests', 'rate_limit_exceeded'],
  upstream_error: ['server_error', 'upstream_error'],
  upstream_overloaded: ['server_error', 'upstream_overloaded'],
  upstream_timeout: ['server_error', 'upstream_timeout'],
  content_filtered: ['invalid_request_error', 'content_filter'],
  unavailable: ['server_error', 'unavailable'],
  internal: ['server_error', 'internal_error'],
}

export const openaiErrors: ErrorTable = {
  read: ({ type, code, param }) => ({ type: wordOf(type), code: wordOf(code), field: wordOf(param) }),
  refusals: [
    { status: [429], words: /insufficient_quota/, means: 'credential_refused' },
    // The request exceeds what the account can ever send per minute, so waiting does not help.
    { status: [429], message: /^request too large\b/i, means: 'request_too_large' },
    { status: [404], words: /model/i, means: 'model_not_found' },
    { status: [404], message: /model/i, means: 'model_not_found' },
    { status: [400, 404, 422], words: /content_(filter|policy)/, means: 'content_filtered' },
  ],
  failures: [
    { words: /insufficient_quota|invalid_api_key/i, means: 'credential_refused' },
    // Agents compact their context only for this exact code.
    { words: /context_length_exceeded|invalid_prompt/i, means: 'invalid_request', verbatim: true },
    { words: /rate_?limit|\b429\b/i, means: 'rate_limited' },
    { words: /overload|unavailable|\b503\b|\b529\b/i, means: 'upstream_overloaded' },
    { words: /timeout|\b408\b|\b504\b/i, means: 'upstream_timeout' },
    { words: /content_(filter|policy)/i, means: 'content_filtered' },
  ],
}

export const { decodeError, decodeStreamError } = errorDecoder(openaiErrors)
