import { type ErrorKind, GatewayError, type GatewayErrorOptions } from '../../canonical/error.ts'
import { isRecord, type Json, textOf } from '../../canonical/json.ts'
import type { RenderedError } from '../protocol.ts'
import { readRetryAfter } from '../retry-after.ts'

/** Render an error so that the vendor's SDK raises the class that fits: `{ type: 'error', error, request_id }`. */
export function encodeError(error: GatewayError, requestId: string): RenderedError {
  const { status, headers } = rendering[error.kind]
  const retryAfter: Record<string, string> =
    error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }
  return {
    status,
    headers: { 'request-id': requestId, 'x-request-id': requestId, ...headers, ...retryAfter },
    body: envelope(error, requestId),
  }
}

/** The format's in-stream error: the SDK raises APIError on an event named `error`. Ends the stream. */
export function encodeStreamError(error: GatewayError, requestId: string): Buffer {
  return Buffer.from(streamErrorText(error, requestId))
}

/** The same as text. */
export function streamErrorText(error: GatewayError, requestId: string): string {
  return `event: error\ndata: ${JSON.stringify(envelope(error, requestId))}\n\n`
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
  // An account without money is a 400 with this text.
  if (told && (told.type === 'billing_error' || /credit balance is too low/i.test(told.message))) {
    return new GatewayError('upstream_error', credentialRefused(status), options)
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
      return new GatewayError('rate_limited', 'The upstream limits the rate of requests: try again later.', {
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
  const type = told?.type ?? ''
  if (/authentication|permission|billing/.test(type)) {
    return new GatewayError('upstream_error', credentialRefused(undefined), { fault: 'upstream' })
  }
  const kind: ErrorKind = /rate_?limit/.test(type)
    ? 'rate_limited'
    : /overload/.test(type)
      ? 'upstream_overloaded'
      : /timeout/.test(type)
        ? 'upstream_timeout'
        : 'upstream_error'
  const message = told ? cut(told.message, shortCharactersMax) : 'it gave no reason'
  return new GatewayError(kind, `The upstream failed while answering: ${message}`, { fault: 'upstream' })
}

const notAgain = { 'x-should-retry': 'false' }

/** https://platform.claude.com/docs/en/api/errors, read 2026-11-21 */
const rendering: Record<ErrorKind, { status: number; type: string; headers?: Record<string, string> }> = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  unsupported_parameter: { status: 400, type: 'invalid_request_error' },
  unauthenticated: { status: 401, type: 'authentication_error', headers: notAgain },
  permission_denied: { status: 403, type: 'permission_error' },
  insufficient_credit: { status: 402, type: 'billing_error', headers: notAgain },
  unknown_path: { status: 404, type: 'not_found_error' },
  model_not_found: { status: 404, type: 'not_found_error' },
  endpoint_not_supported: { status: 400, type: 'invalid_request_error' },
  request_too_large: { status: 413, type: 'request_too_large' },
  request_in_progress: { status: 409, type: 'conflict_error' },
  idempotency_mismatch: { status: 422, type: 'invalid_request_error' },
  rate_limited: { status: 429, type: 'rate_limit_error' },
  upstream_error: { status: 502, type: 'api_error' },
  upstream_overloaded: { status: 529, type: 'overloaded_error' },
  upstream_timeout: { status: 504, type: 'timeout_error' },
  content_filtered: { status: 400, type: 'invalid_request_error' },
  unavailable: { status: 503, type: 'api_error' },
  internal: { status: 500, type: 'api_error' },
}

const contextTooLong = 'context_length_exceeded'
const verbatimCharactersMax = 8192
const shortCharactersMax = 300
/** Upstreams may send anything: a pattern whose time may grow with the square of a text only sees so much of it. */
const readCharactersMax = 2000

/** An upstream's error object, in whichever of the known shapes. */
interface Refusal {
  message: string
  type: string | undefined
  code: string | undefined
}

function envelope(error: GatewayError, requestId: string): Json {
  const details = error.code === undefined ? {} : { details: { error_code: error.code } }
  return {
    type: 'error',
    error: { type: rendering[error.kind].type, message: messageOf(error), ...details },
    request_id: requestId,
  }
}

/** Agents of this format compact their context when they read these words, which other vendors say differently. */
function messageOf({ code, message: whole }: GatewayError): string {
  if (code !== contextTooLong || /prompt is too long/i.test(whole)) return whole
  const message = whole.slice(0, readCharactersMax)
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
      : status === 404 && /model/i.test(told.message)
        ? 'model_not_found'
        : /content filtering policy/i.test(told.message)
          ? 'content_filtered'
          : 'invalid_request'
  const code = told.code ?? (/^prompt is too long/i.test(told.message) ? contextTooLong : undefined)
  return new GatewayError(kind, cut(told.message, verbatimCharactersMax), {
    upstreamStatus: status,
    ...(code === undefined ? {} : { code }),
  })
}

function credentialRefused(status: number | undefined): string {
  const told = status === undefined ? '' : ` (status ${status})`
  return `The upstream refused the gateway's own credential or account for this channel${told}; your key is fine. The gateway's operator has to look at the channel.`
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
  if (!isRecord(value)) return undefined
  return readErrorObject(value.error) ?? readErrorObject(value)
}

function readErrorObject(value: unknown): Refusal | undefined {
  if (typeof value === 'string' && value !== '') return { message: value, type: undefined, code: undefined }
  if (!isRecord(value)) return undefined
  const message = textOf(value.message) ?? textOf(value.detail)
  if (message === undefined) return undefined
  const details = isRecord(value.details) ? value.details : {}
  return { message, type: textOf(value.type), code: textOf(details.error_code) }
}

function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`
}
