import type { GatewayError } from '../../canonical/error.ts'
import { errorBody } from '../openai-errors.ts'

/**
 * Renders an error inside a stream, which ends without [DONE]. The SDK raises APIError for a data line with
 * `error`.
 */
export function encodeStreamError(error: GatewayError, requestId: string): Buffer {
  return Buffer.from(`data: ${JSON.stringify({ ...errorBody(error, requestId), request_id: requestId })}\n\n`)
}
