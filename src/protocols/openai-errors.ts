import { type ErrorKind, GatewayError, type GatewayErrorOptions } from '../canonical/error.ts'
import { isRecord } from '../canonical/json.ts'
import type { RenderedError } from './protocol.ts'
import { readRetryAfter } from './retry-after.ts'

/**
 * The error envelope of OpenAI's formats, which Chat Completions and Responses share.
 *
 * https://platform.openai.com/docs/guides/error-codes/api-errors, read 2026-11-21
 */

/** Render an error so that the vendor's SDK raises the class that fits: `{ error: { message, type, param, code } }`. */
export function encodeError(error: GatewayError, requestId: string): RenderedError {
  const { status, headers } = rendering[error.kind]
  const retryAfter: Record<string, string> =
    error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }
  return { status, headers: { 'x-request-id': requestId, ...headers, ...retryAfter }, body: errorBody(error) }
}

interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null }
}

/** The envelope alone: `{ error: { message, type, param, code } }`. */
export function errorBody(error: GatewayError): ErrorBody {
  const { type, code } = rendering[error.kind]
  const param = error.field ?? (error.kind === 'model_not_found' ? 'model' : null)
  return { error: { message: error.message, type, param, code: error.code ?? code } }
}

/**
 * What an upstream's refusal means for the caller.
 *
 * 400, 404, 413 and 422 keep the upstream's own message, because agents act on its wording (switch a feature off,
 * compact the context). A refused credential is the operator's matter: never a 401, and none of the upstream's text,
 * which may quote the key.
 */
export function decodeError(
  status: number,
  headers: Record<string, string | string[] | undefined>,
  body: Buffer,
): GatewayError {
  const told = readRefusal(body)
  const retryAfterSeconds = readRetryAfter(headers)
  const options: GatewayErrorOptions = {
    upstreamStatus: status,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
  switch (status) {
    case 400:
    case 404:
    case 413:
    case 422:
      return decodeClientFault(status, told, headers, body)
    case 401:
    case 402:
    case 403:
      return new GatewayError('upstream_error', credentialRefused(status), options)
    case 408:
    case 504:
      return new GatewayError('upstream_timeout', `The upstream gave up waiting (status ${status}).`, options)
    case 429:
      return told?.code === 'insufficient_quota'
        ? new GatewayError('upstream_error', credentialRefused(status), options)
        : new GatewayError('rate_limited', 'The upstream limits the rate of requests: try again later.', {
            ...options,
            fault: 'upstream',
          })
    case 503:
    case 529:
      return new GatewayError(
        'upstream_overloaded',
        `The upstream is overloaded (status ${status}).`,
        options,
      )
    default:
      return new GatewayError(
        'upstream_error',
        `The upstream failed with status ${status}: ${summary(told, headers, body)}`,
        options,
      )
  }
}

/** What an `error` inside a stream, or inside an answer of status 200, means. */
export function decodeStreamError(value: unknown): GatewayError {
  const told = readErrorObject(value)
  const words = told ? `${told.type ?? ''} ${told.code ?? ''}`.toLowerCase() : ''
  if (/insufficient_quota|invalid_api_key/.test(words)) {
    return new GatewayError('upstream_error', credentialRefused(200))
  }
  // Agents compact their context on exactly this code.
  if (told && /context_length_exceeded|invalid_prompt/.test(words)) {
    const code = told.code === undefined ? {} : { code: told.code }
    return new GatewayError('invalid_request', cut(told.message, verbatimCharactersMax), code)
  }
  const kind: ErrorKind = /rate_?limit|\b429\b/.test(words)
    ? 'rate_limited'
    : /overload|unavailable|\b503\b|\b529\b/.test(words)
      ? 'upstream_overloaded'
      : /timeout|\b408\b|\b504\b/.test(words)
        ? 'upstream_timeout'
        : /content_(filter|policy)/.test(words)
          ? 'content_filtered'
          : 'upstream_error'
  const message = told ? cut(told.message, shortCharactersMax) : 'it gave no reason'
  return new GatewayError(kind, `The upstream failed while answering: ${message}`, { fault: 'upstream' })
}

const notAgain = { 'x-should-retry': 'false' }

const rendering: Record<
  ErrorKind,
  { status: number; type: string; code: string | null; headers?: Record<string, string> }
> = {
  invalid_request: { status: 400, type: 'invalid_request_error', code: null },
  unsupported_parameter: { status: 400, type: 'invalid_request_error', code: 'unsupported_parameter' },
  unauthenticated: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key', headers: notAgain },
  permission_denied: { status: 403, type: 'permission_error', code: 'permission_denied' },
  insufficient_credit: {
    status: 402,
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    headers: notAgain,
  },
  unknown_path: { status: 404, type: 'invalid_request_error', code: 'unknown_url' },
  model_not_found: { status: 404, type: 'invalid_request_error', code: 'model_not_found' },
  endpoint_not_supported: { status: 400, type: 'invalid_request_error', code: 'endpoint_not_supported' },
  request_too_large: { status: 413, type: 'invalid_request_error', code: 'request_too_large' },
  request_in_progress: { status: 409, type: 'invalid_request_error', code: 'request_in_progress' },
  idempotency_mismatch: { status: 422, type: 'invalid_request_error', code: 'idempotency_mismatch' },
  rate_limited: { status: 429, type: 'requests', code: 'rate_limit_exceeded' },
  upstream_error: { status: 502, type: 'server_error', code: 'upstream_error' },
  upstream_overloaded: { status: 503, type: 'server_error', code: 'upstream_overloaded' },
  upstream_timeout: { status: 504, type: 'server_error', code: 'upstream_timeout' },
  content_filtered: { status: 400, type: 'invalid_request_error', code: 'content_filter' },
  unavailable: { status: 503, type: 'server_error', code: 'unavailable' },
  internal: { status: 500, type: 'server_error', code: 'internal_error' },
}

const verbatimCharactersMax = 8192
const shortCharactersMax = 300

/** An upstream's error object, in whichever of the known shapes. */
interface Refusal {
  message: string
  type: string | undefined
  code: string | undefined
  param: string | undefined
}

function decodeClientFault(
  status: number,
  told: Refusal | undefined,
  headers: Record<string, string | string[] | undefined>,
  body: Buffer,
): GatewayError {
  // A 404 without a reason is the answer of a web server that does not know the path: the channel's address is wrong.
  if (!told || (status === 404 && told.message === 'Not Found')) {
    return status === 404
      ? new GatewayError('upstream_error', 'The upstream does not know this path: check its base URL.', {
          upstreamStatus: status,
        })
      : new GatewayError(
          status === 413 ? 'request_too_large' : 'invalid_request',
          `The upstream refused the request with status ${status}: ${summary(told, headers, body)}`,
          { upstreamStatus: status },
        )
  }
  const kind: ErrorKind =
    status === 413
      ? 'request_too_large'
      : status === 404 && /model/i.test(`${told.code} ${told.message}`)
        ? 'model_not_found'
        : /content_(filter|policy)/.test(told.code ?? '')
          ? 'content_filtered'
          : 'invalid_request'
  return new GatewayError(kind, cut(told.message, verbatimCharactersMax), {
    upstreamStatus: status,
    ...(told.param === undefined ? {} : { field: told.param }),
    ...(told.code === undefined ? {} : { code: told.code }),
  })
}

function credentialRefused(status: number): string {
  return `The upstream refused the gateway's own credential or account for this channel (status ${status}); your key is fine. The gateway's operator has to look at the channel.`
}

/** A few words on an answer that has no message we know, never its content at length. */
function summary(
  told: Refusal | undefined,
  headers: Record<string, string | string[] | undefined>,
  body: Buffer,
): string {
  if (told) return cut(told.message, shortCharactersMax)
  if (body.length === 0) return 'an empty body'
  const type = String(headers['content-type'] ?? 'no content type').slice(0, 60)
  return `${body.length} bytes of ${type}, not an error in this format`
}

function readRefusal(body: Buffer): Refusal | undefined {
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch {
    return undefined
  }
  // Gemini's OpenAI-compatible endpoint wraps the object in an array.
  if (Array.isArray(value)) value = value[0]
  if (!isRecord(value)) return undefined
  return readErrorObject(value.error) ?? readErrorObject(value)
}

function readErrorObject(value: unknown): Refusal | undefined {
  if (typeof value === 'string' && value !== '') {
    return { message: value, type: undefined, code: undefined, param: undefined }
  }
  if (!isRecord(value)) return undefined
  const message = textOf(value.message) ?? readDetail(value.detail)
  if (message === undefined) return undefined
  return { message, type: textOf(value.type), code: textOf(value.code), param: textOf(value.param) }
}

/** FastAPI's `detail`: a text, or a list of `{ loc, msg }`. */
function readDetail(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return textOf(detail)
  const lines = detail.filter(isRecord).map((item) => {
    const place = Array.isArray(item.loc) ? item.loc.join('.') : ''
    return `${place}: ${textOf(item.msg) ?? 'not valid'}`
  })
  return lines.length === 0 ? undefined : lines.join('; ')
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`
}
