import { type GatewayError, type GatewayErrorOptions, gatewayError } from '../canonical/error.ts'
import type { Headers } from '../canonical/headers.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import type { Reason } from '../canonical/reasons/catalogue.ts'
import { maskAccountIds, withoutAccount } from './account-words.ts'
import { readRetryAfter, retryAfterIn } from './retry-after.ts'

/**
 * The interpretation of one vendor's errors, as data. The first matching rule is used; if there is none, the
 * HTTP status is used.
 */
export interface ErrorTable {
  /** Reads the vendor's codes from an error object. */
  read(error: Json): VendorWords
  /** For answers with an error status. */
  refusals: readonly (ErrorRule & { status?: readonly number[] })[]
  /** For an `error` inside a stream, or inside an answer with status 200. */
  failures: readonly (ErrorRule & { verbatim?: true })[]
  /** Messages that mean `context_length_exceeded`, if the vendor has no code for it. */
  contextTooLong?: RegExp
}

export interface ErrorRule {
  /** A pattern for the vendor's type or code. */
  words?: RegExp
  /** A pattern for the message, of which only the first 2000 characters are considered. */
  message?: RegExp
  means: Meaning
}

/**
 * `credential_refused`: the upstream refused the channel's own key or account, which only the operator can
 * fix.
 */
export type Meaning =
  | 'credential_refused'
  | 'invalid_request'
  | 'request_too_large'
  | 'model_not_found'
  | 'content_filtered'
  | 'rate_limited'
  | 'upstream_timeout'
  | 'upstream_overloaded'
  | 'upstream_error'

export interface VendorWords {
  type?: string | undefined
  /** Kept for the client, whose software may act on it. */
  code?: string | undefined
  /** The field of the request that the vendor reports as invalid. */
  field?: string | undefined
  retryAfterSeconds?: number | undefined
}

export interface ErrorDecoder {
  /**
   * Interprets an answer with an error status for the client.
   *
   * 400, 404, 413 and 422 keep the upstream's own message, except for the ids of the operator's account,
   * because agents act on its wording (they turn a feature off or compact the context). From other answers,
   * text about the operator's account is removed; the cause contains all of it, for the log. A refused
   * credential never becomes a 401 and shows none of the upstream's text, which could quote the key.
   */
  decodeError(status: number, headers: Headers, body: Buffer): GatewayError
  /** Interprets an `error` inside a stream, or inside an answer with status 200, for the client. */
  decodeStreamError(value: unknown): GatewayError
}

/** The common decoder of upstream errors. Vendors differ only in their tables. */
export function errorDecoder(table: ErrorTable): ErrorDecoder {
  return {
    decodeError(status, headers, body) {
      const error = readBody(body, table)
      const rules = [...table.refusals, ...commonRefusals].filter(
        (rule) => rule.status?.includes(status) ?? true,
      )
      const means = firstFit(rules, error)?.means ?? meaningOfStatus[status] ?? 'upstream_error'
      const words = error && publicWords(error)
      const reason = error ? (words ?? 'the reason is in the log') : describe(headers, body)
      const retryAfterSeconds = readRetryAfter(headers) ?? error?.retryAfterSeconds
      const upstream = {
        fault: 'upstream',
        upstreamStatus: status,
        retryAfterSeconds,
        ...causeOf(error),
      } as const
      switch (means) {
        case 'credential_refused':
          return credentialRefused(upstream, error)
        case 'invalid_request':
        case 'request_too_large':
        case 'model_not_found':
        case 'content_filtered':
          // A 404 without a reason comes from a web server that does not know the path.
          if (status === 404 && (!error || error.message === 'Not Found')) {
            return gatewayError('upstream_path_unknown', {}, { upstreamStatus: status })
          }
          if (error && !verbatimStatuses.has(status))
            return inOwnWords(means, { ...error, message: reason }, table, upstream)
          return error
            ? inOwnWords(means, error, table, { upstreamStatus: status, ...causeOf(error) })
            : errorOf(means, `The upstream refused the request with status ${status}: ${reason}`, {
                upstreamStatus: status,
              })
        case 'rate_limited':
          return errorOf(
            means,
            `The upstream is rate limiting the gateway: ${words ?? 'try again later.'}`,
            upstream,
          )
        case 'upstream_timeout':
          return errorOf(means, withWords(`The upstream timed out (status ${status})`, words), upstream)
        case 'upstream_overloaded':
          return errorOf(means, withWords(`The upstream is overloaded (status ${status})`, words), upstream)
        case 'upstream_error':
          return errorOf(means, `The upstream failed with status ${status}: ${reason}`, upstream)
      }
    },
    decodeStreamError(value) {
      const error = readError(value, table)
      const rule = firstFit([...table.failures, ...commonRefusals], error)
      const means = rule?.means ?? 'upstream_error'
      const { retryAfterSeconds } = error ?? {}
      const upstream = { fault: 'upstream', retryAfterSeconds, ...causeOf(error) } as const
      if (means === 'credential_refused') return credentialRefused(upstream, error)
      if (error && rule?.verbatim === true) return inOwnWords(means, error, table, {})
      const reason = error ? (publicWords(error) ?? 'the reason is in the log') : 'no reason was given'
      return errorOf(means, `The upstream failed while answering: ${reason}`, upstream)
    },
  }
}

/** A non-empty text, or a number as text. */
export function wordOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

const meaningOfStatus: Readonly<Record<number, Meaning>> = {
  400: 'invalid_request',
  401: 'credential_refused',
  402: 'credential_refused',
  403: 'credential_refused',
  404: 'invalid_request',
  408: 'upstream_timeout',
  413: 'request_too_large',
  422: 'invalid_request',
  429: 'rate_limited',
  503: 'upstream_overloaded',
  504: 'upstream_timeout',
  529: 'upstream_overloaded',
}

/**
 * Errors of a channel that is itself a gateway and has no channel for the model.
 * https://github.com/QuantumNous/new-api/issues/6310, https://github.com/songquanpeng/one-api/issues/2331,
 * read 2026-11-28
 */
const lacksModel = [400, 404, 422, 500, 502, 503, 504, 529]
const commonRefusals: readonly (ErrorRule & { status: readonly number[]; verbatim?: true })[] = [
  { status: lacksModel, words: /\bmodel_not_found\b/, means: 'model_not_found' },
  {
    status: lacksModel,
    message:
      /\bno available channels? for (?:the )?model\b|\u6a21\u578b.{0,120}\u65e0\u53ef\u7528\u6e20\u9053/i,
    means: 'model_not_found',
  },
]

/** Statuses with which the upstream explains what is wrong with the request. */
const verbatimStatuses: ReadonlySet<number> = new Set([400, 404, 413, 422])
const verbatimCharactersMax = 8192
const shortCharactersMax = 300
/**
 * Upstreams can send any text, and the matching time of some patterns grows quadratically with its length.
 */
const matchedCharactersMax = 2000

interface VendorError extends VendorWords {
  message: string
}

/** The message of an upstream's error, in any format. Undefined if no known member contains a message. */
export function messageIn(body: Buffer): string | undefined {
  return readBody(body, { read: () => ({}) })?.message
}

function readBody(body: Buffer, table: Pick<ErrorTable, 'read'>): VendorError | undefined {
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch {
    return undefined
  }
  // Gemini wraps the object in an array, at its OpenAI-compatible endpoint and in streams that are not SSE.
  if (Array.isArray(value)) value = value[0]
  return isRecord(value) ? (readError(value.error, table) ?? readError(value, table)) : undefined
}

function readError(value: unknown, table: Pick<ErrorTable, 'read'>): VendorError | undefined {
  if (typeof value === 'string' && value !== '') return { message: value }
  if (!isRecord(value)) return undefined
  const message =
    wordOf(value.message) ??
    wordOf(value.msg) ??
    // Amazon's refusals of an identity.
    wordOf(value.Message) ??
    readDetail(value.detail) ??
    readNested(value.message)
  if (message === undefined) return undefined
  const words = table.read(value)
  return { message, ...words, retryAfterSeconds: words.retryAfterSeconds ?? retryAfterIn(value) }
}

function publicWords({ message }: VendorError): string | undefined {
  const words = withoutAccount(message)
  return words && cut(words, shortCharactersMax)
}

function withWords(sentence: string, words: string | undefined): string {
  return words === undefined ? `${sentence}.` : `${sentence}: ${words}`
}

/** The upstream's complete message, as a cause that clients do not see. */
function causeOf(error: VendorError | undefined): { cause?: Error } {
  return error === undefined || withoutAccount(error.message) === error.message
    ? {}
    : { cause: wordsOf(error) }
}

function wordsOf({ message }: VendorError): Error {
  return new Error(cut(message, shortCharactersMax))
}

/** FastAPI's `detail`: a text, or a list of `{ loc, msg }`. */
function readDetail(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return wordOf(detail)
  const lines = detail.filter(isRecord).map((item) => {
    const place = Array.isArray(item.loc) ? item.loc.join('.') : ''
    return `${place}: ${wordOf(item.msg) ?? 'not valid'}`
  })
  return lines.length === 0 ? undefined : lines.join('; ')
}

/**
 * Mistral puts FastAPI's list into `message`, or into a `detail` within it.
 * https://github.com/editor-code-assistant/eca/issues/231
 */
function readNested(message: unknown): string | undefined {
  if (Array.isArray(message)) return readDetail(message)
  return isRecord(message) ? readDetail(message.detail) : undefined
}

function firstFit<R extends ErrorRule>(rules: readonly R[], error: VendorError | undefined): R | undefined {
  if (error === undefined) return undefined
  const words = `${error.type ?? ''} ${error.code ?? ''}`
  const message = error.message.slice(0, matchedCharactersMax)
  return rules.find((rule) => (rule.words?.test(words) ?? true) && (rule.message?.test(message) ?? true))
}

/** The message has none of the upstream's words, so the cause has them all. */
function credentialRefused(options: GatewayErrorOptions, error: VendorError | undefined): GatewayError {
  return gatewayError(
    'upstream_credential_refused',
    { status: options.upstreamStatus },
    error === undefined ? options : { ...options, cause: wordsOf(error) },
  )
}

/** The messages of these reasons contain the upstream's own message. */
function errorOf(means: PassedOn, message: string, options: GatewayErrorOptions): GatewayError {
  return gatewayError(reasonOf[means], { message }, options)
}

type PassedOn = Exclude<Meaning, 'credential_refused'>

const reasonOf = {
  invalid_request: 'upstream_refused_request',
  request_too_large: 'upstream_request_too_large',
  model_not_found: 'upstream_model_unknown',
  content_filtered: 'upstream_content_filtered',
  rate_limited: 'upstream_rate_limited',
  upstream_timeout: 'upstream_timed_out',
  upstream_overloaded: 'upstream_overloaded',
  upstream_error: 'upstream_failed',
} as const satisfies Record<PassedOn, Reason>

function inOwnWords(
  means: PassedOn,
  { message, code, field }: VendorError,
  { contextTooLong }: ErrorTable,
  options: GatewayErrorOptions,
): GatewayError {
  const isTooLong = contextTooLong?.test(message.slice(0, matchedCharactersMax)) === true
  return errorOf(means, maskAccountIds(cut(message, verbatimCharactersMax)), {
    ...options,
    field,
    code: code ?? (isTooLong ? 'context_length_exceeded' : undefined),
  })
}

/** A short description of an answer without a known message. It never quotes the answer. */
function describe(headers: Headers, body: Buffer): string {
  if (body.length === 0) return 'an empty body'
  const type = String(headers['content-type'] ?? 'no content type').slice(0, 60)
  return `${body.length} bytes of ${type}, not an error in this format`
}

/** A secret that crossed the cut would no longer be known by its value, so a long word there is left out. */
function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  let wordAt = charactersMax
  while (wordAt > 0 && isVisibleAscii(text.charCodeAt(wordAt - 1))) wordAt--
  return `${text.slice(0, charactersMax - wordAt < longWord ? charactersMax : wordAt)}...`
}

const longWord = 20

function isVisibleAscii(code: number): boolean {
  return code > 0x20 && code < 0x7f
}
