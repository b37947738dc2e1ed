import { headerText } from '../canonical/headers.ts'
import type { ResponseHeaders } from '../upstream/upstream-call.ts'
import type { Received } from './received.ts'

/** The sources of the headers of an answer. */
interface AnswerHead {
  /** The content type for the client, if it differs from the upstream's. */
  contentType: string | undefined
  /** Whether the upstream streams. */
  streams: boolean
  /** The size of an answer that is sent in one piece. */
  wholeBytes: number | undefined
  upstream: ResponseHeaders
}

/**
 * The only upstream headers that are passed on to a client: SDKs of the format use them, and they do not
 * identify our account.
 */
const forwardedHeaders = ['content-type', 'openai-processing-ms', 'openai-version', 'openai-model']

/** Returns the headers of an answer to a client. */
export function answerHeaders(
  { id, headers: own, endpoint }: Pick<Received, 'id' | 'headers' | 'endpoint'>,
  { contentType, streams, wholeBytes, upstream }: AnswerHead,
): Record<string, string | number> {
  const headers: Record<string, string | number> = { 'x-request-id': id, ...own }
  const { requestIdHeader } = endpoint.client
  if (requestIdHeader !== undefined) headers[requestIdHeader] = id
  if (contentType !== undefined) headers['content-type'] = contentType
  else {
    for (const name of forwardedHeaders) {
      const value = headerText(upstream[name])
      if (value !== undefined) headers[name] = value
    }
  }
  if (contentType === undefined ? streams : contentType.startsWith('text/event-stream')) {
    headers['cache-control'] = 'no-cache'
    headers['x-accel-buffering'] = 'no'
  } else if (wholeBytes !== undefined) {
    headers['content-length'] = wholeBytes
  } else {
    const declared = headerText(upstream['content-length'])
    if (declared !== undefined) headers['content-length'] = declared
  }
  return headers
}
