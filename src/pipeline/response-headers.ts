import { headerText } from '../canonical/headers.ts'
import type { AttemptRecord } from '../journal/record.ts'
import type { Target } from '../routing/candidates.ts'
import type { ModelCandidates } from '../routing/targets.ts'
import type { ResponseHeaders } from '../upstream/upstream-call.ts'
import type { Admitted } from './admit.ts'
import type { Gateway } from './gateway.ts'
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

/**
 * Sets the headers that name the model of an answer and, if the operator shows them, its channels. `serving`
 * is the model of the attempt that is under way.
 */
export function setRouteHeaders(
  { showsRouting }: Pick<Gateway, 'showsRouting'>,
  { headers, exchange, row }: Admitted,
  target: Target | null,
  serving: ModelCandidates | undefined,
): void {
  if (serving?.fallback === undefined) delete headers['x-tollgate-model']
  else headers['x-tollgate-model'] = toVisibleAscii(serving.fallback)
  if (!showsRouting) return
  if (target === null) delete headers['x-tollgate-channel']
  else headers['x-tollgate-channel'] = toVisibleAscii(target.channel.name)
  if (exchange.headers['x-tollgate-route'] === 'true')
    headers['x-tollgate-route'] = routeHeader(row.attempts, serving !== undefined)
}

/** The header stops before the first attempt that would exceed this length. */
const charactersMax = 2048
const reasonCharactersMax = 200

/**
 * The attempts of a request as a list of structured fields:
 * `"main";status=503;error=upstream_overloaded;ms=12, "second";passed_over="breaker open for 4 s",
 * "third";served`. https://www.rfc-editor.org/rfc/rfc9651
 */
function routeHeader(attempts: readonly AttemptRecord[], isServed: boolean): string {
  let list = ''
  for (const [at, attempt] of attempts.entries()) {
    const item = itemOf(attempt, isServed && at === attempts.length - 1)
    if (list.length + item.length + 2 > charactersMax) break
    list += list === '' ? item : `, ${item}`
  }
  return list
}

function itemOf(attempt: AttemptRecord, isServing: boolean): string {
  const name = quoted(attempt.channel)
  // A chosen target that could not be called has an error.
  if (attempt.passedOver) return `${name};passed_over=${quoted(attempt.error?.message ?? attempt.reason)}`
  if (isServing) return `${name};served`
  const { status, error, totalMs } = attempt
  return [
    name,
    status === null ? '' : `;status=${status}`,
    error === null ? '' : `;error=${error.kind}`,
    totalMs === null ? '' : `;ms=${totalMs}`,
  ].join('')
}

function quoted(text: string): string {
  return `"${toVisibleAscii(text.slice(0, reasonCharactersMax)).replace(/["\\]/g, '\\$&')}"`
}

/** Header values and strings in structured fields are ASCII. */
function toVisibleAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}
