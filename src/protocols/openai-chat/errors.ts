import type { GatewayError } from '../../canonical/error.ts'
import { errorBody } from '../openai-errors.ts'

/**
 * The format's error inside a stream: the SDK raises APIError on a data line with `error`. It ends the stream
 * without [DONE].
 */
export function encodeStreamError(error: GatewayError, requestId: string): Buffer {
  return Buffer.from(`data: ${JSON.stringify({ ...errorBody(error, requestId), request_id: requestId })}\n\n`)
}
