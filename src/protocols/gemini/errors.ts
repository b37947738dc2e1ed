import { type ErrorKind, GatewayError, type GatewayErrorOptions } from '../../canonical/error.ts'
import { isRecord, recordsOf, textOf } from '../../canonical/json.ts'
import type { Headers } from '../protocol.ts'
import { readRetryAfter } from '../retry-after.ts'

/**
 * What an upstream's refusal means for the caller. Messages of 400, 404 and 413 are kept as the upstream wrote them; a
 * refused credential is the operator's matter, and none of its text reaches a client: it may quote the key.
 *
 * https://ai.google.dev/gemini-api/docs/troubleshooting, read 2026-11-21
 */
export function decodeError(status: number, headers: Headers, body: Buffer): GatewayError {
  const told = readRefusal(body)
  const retryAfterSeconds = readRetryAfter(headers) ?? told?.retryAfterSeconds
  const options: GatewayErrorOptions = {
    upstreamStatus: status,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
  // A bad key and an account without billing are told with a 400.
  if (told?.isOperatorsMatter === true)
    return new GatewayError('upstream_error', credentialRefused(status), options)
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
  const message = told ? cut(told.message, shortCharactersMax) : 'it gave no reason'
  const reason = told?.isOperatorsMatter === true ? 'it refused the credential of this channel' : message
  const kind = streamKinds[told?.status ?? ''] ?? 'upstream_error'
  const after = told?.retryAfterSeconds
  return new GatewayError(kind, `The upstream failed while answering: ${reason}`, {
    fault: 'upstream',
    ...(after === undefined ? {} : { retryAfterSeconds: after }),
  })
}

const streamKinds: Readonly<Record<string, ErrorKind>> = {
  RESOURCE_EXHAUSTED: 'rate_limited',
  UNAVAILABLE: 'upstream_overloaded',
  DEADLINE_EXCEEDED: 'upstream_timeout',
}

const verbatimCharactersMax = 8192
const shortCharactersMax = 300
/** Upstreams may send anything: a pattern whose time may grow with the square of a text only sees so much of it. */
const readCharactersMax = 2000
const retryAfterSecondsMax = 24 * 60 * 60

interface Refusal {
  message: string
  /** The format's word, such as `INVALID_ARGUMENT`. */
  status: string | undefined
  /** It is about the channel's key or account, not about the request. */
  isOperatorsMatter: boolean
  retryAfterSeconds: number | undefined
}

function decodeClientFault(
  status: number,
  told: Refusal | undefined,
  headers: Headers,
  body: Buffer,
): GatewayError {
  // A 404 without a reason is the answer of a web server that does not know the path: the channel's address is wrong.
  if (told === undefined) {
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
    status === 413 ? 'request_too_large' : status === 404 ? 'model_not_found' : 'invalid_request'
  const isTooLong = /input token count.*exceeds the maximum/i.test(told.message.slice(0, readCharactersMax))
  return new GatewayError(kind, cut(told.message, verbatimCharactersMax), {
    upstreamStatus: status,
    ...(isTooLong ? { code: 'context_length_exceeded' } : {}),
  })
}

function credentialRefused(status: number): string {
  return `The upstream refused the gateway's own credential or account for this channel (status ${status}); your key is fine. The gateway's operator has to look at the channel.`
}

function summary(told: Refusal | undefined, headers: Headers, body: Buffer): string {
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
  // A stream that was not asked for as server-sent events is an array.
  if (Array.isArray(value)) value = value[0]
  return isRecord(value) ? readErrorObject(value.error) : undefined
}

function readErrorObject(value: unknown): Refusal | undefined {
  if (!isRecord(value)) return undefined
  const message = textOf(value.message)
  if (message === undefined) return undefined
  const details = recordsOf(value.details)
  const status = textOf(value.status)
  return {
    message,
    status,
    isOperatorsMatter:
      status === 'FAILED_PRECONDITION' ||
      details.some(
        ({ reason }) => typeof reason === 'string' && /^(API_KEY|BILLING|SERVICE_DISABLED)/.test(reason),
      ) ||
      /API key not valid|API key expired/i.test(message),
    retryAfterSeconds: details
      .map(({ retryDelay }) => readDelay(retryDelay))
      .find((delay) => delay !== undefined),
  }
}

/** Whole seconds of a duration such as `34.4s`. */
function readDelay(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(value)?.[1] : undefined
  if (seconds === undefined) return undefined
  return Math.min(Math.max(Math.ceil(Number(seconds)), 1), retryAfterSecondsMax)
}

function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`
}
