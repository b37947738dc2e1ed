import { optionsToKeep } from '../kept-options.ts'
import { decodeError, encodeError } from '../openai-errors.ts'
import { patchedPieces, patchRequest } from '../patch-request.ts'
import type { Protocol } from '../protocol.ts'
import { decodeRequest } from './decode-request.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeStream } from './decode-stream.ts'
import { answerSettings } from './encode-answer.ts'
import { encodeRequest } from './encode-request.ts'
import { encodeResponse } from './encode-response.ts'
import { encodeStream } from './encode-stream.ts'
import { encodeStreamError } from './errors.ts'
import { plainInput } from './plain-input.ts'
import { readRequest } from './request.ts'
import { watchResponse } from './watch-response.ts'
import { watchStream } from './watch-stream.ts'

/**
 * Chat Completions: `POST /v1/chat/completions`.
 *
 * https://platform.openai.com/docs/api-reference/chat, read 2026-11-21
 */
export const openaiChat: Protocol = {
  name: 'openai-chat',
  client: {
    readRequest,
    plainInput,
    turnsMember: 'messages',
    forwardedHeaders: [],
    decodeRequest,
    answerSettings,
    encodeResponse,
    encodeStream,
    keepAlive: ': keep-alive\n\n',
    encodeError,
    encodeStreamError,
  },
  upstream: {
    path: () => '/chat/completions',
    headers: {},
    encodeRequest,
    keeps: optionsToKeep,
    decodeResponse,
    decodeStream,
    native: { patchRequest, patchedPieces, watchResponse, watchStream },
    decodeError,
  },
}
