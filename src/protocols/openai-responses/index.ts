import { optionsToKeep } from '../kept-options.ts'
import { decodeError, encodeError } from '../openai-errors.ts'
import { patchedPieces, patchRequest } from '../patch-request.ts'
import type { Protocol } from '../protocol.ts'
import { watchByDecoding } from '../watch.ts'
import { decodeResponse, decodeStream } from './decode-answer.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeResponse, encodeStream } from './encode-answer.ts'
import { encodeRequest } from './encode-request.ts'
import { encodeStreamError } from './errors.ts'
import { responsesFrames } from './frames.ts'
import { plainInput } from './plain-input.ts'
import { readRequest } from './request.ts'
import { answerSettings } from './response-object.ts'
import { state } from './state.ts'
import { watchResponse } from './watch-response.ts'

/**
 * Responses: `POST /v1/responses`.
 *
 * https://platform.openai.com/docs/api-reference/responses, read 2026-11-21
 */
export const openaiResponses: Protocol = {
  name: 'openai-responses',
  client: {
    readRequest,
    plainInput,
    turnsMember: 'input',
    forwardedHeaders: [],
    decodeRequest,
    answerSettings,
    encodeResponse,
    encodeStream,
    state,
    keepAlive: ': keep-alive\n\n',
    encodeError,
    encodeStreamError,
  },
  upstream: {
    path: () => '/responses',
    headers: {},
    encodeRequest,
    // The format has no stop sequences.
    keeps: (request, traits) => optionsToKeep(request, { ...traits, stopMax: 0 }),
    decodeResponse,
    decodeStream,
    native: {
      patchRequest,
      patchedPieces,
      watchResponse,
      watchStream: (options) => watchByDecoding(decodeStream, options),
    },
    frames: responsesFrames,
    decodeError,
  },
}
