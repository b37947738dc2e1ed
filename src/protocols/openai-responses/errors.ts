import type { GatewayError } from '../../canonical/error.ts'
import type { Json } from '../../canonical/json.ts'
import type { ErrorKind } from '../../canonical/reasons/kinds.ts'

/**
 * Renders an error inside a stream whose state is unknown: an `error` event, for which OpenAI's SDK raises
 * APIError, and `response.failed`, the only event whose message Codex shows.
 */
export function encodeStreamError(error: GatewayError, requestId: string): Buffer {
  const { code, message } = failureOf(error)
  const param = error.field ?? null
  const response = {
    id: responseId(requestId),
    object: 'response',
    status: 'failed',
    error: { code, message },
    output: [],
    usage: null,
  }
  return Buffer.from(
    encodeEvent({ type: 'error', code, message, param, sequence_number: 0, request_id: requestId }) +
      encodeEvent({ type: 'response.failed', sequence_number: 1, response }) +
      endOfStream,
  )
}

/** The `error` of a failed response. Codex gives up on `invalid_prompt` and retries on `server_error`. */
export function failureOf({ kind, code, message }: GatewayError): { code: string; message: string } {
  return { code: code ?? codeOf[kind] ?? 'server_error', message }
}

const codeOf: Readonly<Partial<Record<ErrorKind, string>>> = {
  rate_limited: 'rate_limit_exceeded',
  insufficient_credit: 'insufficient_quota',
  invalid_request: 'invalid_prompt',
  unsupported_parameter: 'invalid_prompt',
  request_too_large: 'invalid_prompt',
  idempotency_mismatch: 'invalid_prompt',
  content_filtered: 'invalid_prompt',
}

/** The id of our answer to a request. */
export function responseId(requestId: string): string {
  return `resp_${idPart(requestId)}`
}

/** The characters of a request id that are valid in other ids. */
export function idPart(requestId: string): string {
  return requestId.replace(/[^a-zA-Z0-9]/g, '')
}

/** A server-sent event, named by its `type`. */
export function encodeEvent(event: Json & { type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/**
 * The end marker of a stream. OpenAI does not send it in this format. The Open Responses specification
 * requires it, and the clients of both accept it.
 */
export const endOfStream = 'data: [DONE]\n\n'
