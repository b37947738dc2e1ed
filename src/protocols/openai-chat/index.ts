import type { Protocol } from '../protocol.ts'
import { decodeError, encodeError, encodeStreamError } from './errors.ts'
import { patchRequest, readRequest } from './request.ts'
import { watchResponse } from './response.ts'
import { watchStream } from './stream.ts'

/**
 * Chat Completions: `POST /v1/chat/completions`.
 *
 * https://platform.openai.com/docs/api-reference/chat, read 2026-11-21
 */
export const openaiChat: Protocol = {
  name: 'openai-chat',
  client: { readRequest, encodeError, encodeStreamError },
  upstream: {
    path: '/chat/completions',
    patchRequest,
    authHeaders,
    watchResponse,
    watchStream,
    decodeError,
  },
}

/** None for an empty secret: some upstreams want no credential. */
function authHeaders(secret: string): Record<string, string> {
  return secret === '' ? {} : { authorization: `Bearer ${secret}` }
}
