import { patchedPieces, patchRequest } from '../patch-request.ts'
import type { Protocol } from '../protocol.ts'
import { watchByDecoding, watchResponseByDecoding } from '../watch.ts'
import { decodeResponse, decodeStream } from './decode-answer.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeRequest, keeps } from './encode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { encodeStream } from './encode-stream.ts'
import { decodeError, encodeError, encodeStreamError } from './errors.ts'
import { plainInput } from './plain-input.ts'
import { checkHeaders, readRequest } from './request.ts'
import { state } from './state.ts'

/**
 * Messages: `POST /v1/messages`.
 *
 * https://platform.claude.com/docs/en/api/messages, read 2026-11-21
 */
export const anthropicMessages: Protocol = {
  name: 'anthropic-messages',
  client: {
    readRequest,
    plainInput,
    turnsMember: 'messages',
    checkHeaders,
    requestIdHeader: 'request-id',
    featuresHeader: 'anthropic-beta',
    threadsFeature: 'message-threads-',
    forwardedHeaders: ['anthropic-version', 'anthropic-beta'],
    decodeRequest,
    // An answer does not repeat any part of its request.
    answerSettings: () => ({}),
    encodeResponse,
    encodeStream,
    state,
    keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
    encodeError,
    encodeStreamError,
  },
  upstream: {
    path: () => '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    encodeRequest,
    keeps,
    decodeResponse,
    decodeStream,
    native: {
      patchRequest,
      patchedPieces,
      watchResponse: (body) => watchResponseByDecoding(decodeResponse, body),
      watchStream: (options) => watchByDecoding(decodeStream, options),
    },
    decodeError,
  },
}
