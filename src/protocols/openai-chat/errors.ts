import type { GatewayError } from '../../canonical/error.ts'
import { errorBody } from '../openai-errors.ts'

/** The format's in-stream error: the SDK raises APIError on a data line with `error`. Ends the stream, without [DONE]. */
export function encodeStreamError(error: GatewayError, requestId: string): Buffer {
  return Buffer.from(`data: ${JSON.stringify({ ...errorBody(error), request_id: requestId })}\n\n`)
}
