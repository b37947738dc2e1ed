import { GatewayError } from '../canonical/error.ts'
import { upstreamSide } from '../protocols/index.ts'
import { asGatewayError, type Call, newAttempt } from './call.ts'
import type { Gateway } from './gateway.ts'
import type { Target } from './route.ts'
import type { Listener, ResponseHeaders, UpstreamRequest } from './upstream.ts'

export type Question = Pick<UpstreamRequest, 'method' | 'path' | 'body' | 'headers'>

/** More of a refusal is not read. */
const refusalBytesMax = 64 * 1024

/**
 * One small question to an upstream, answered whole, for a call that stands in the journal: an attempt of it, which
 * ends with its client. `read` makes something of the answer; what it throws counts as the upstream's failure.
 * Rejects GatewayError when there is no answer, with what the upstream has against the question where it said so.
 */
export async function askUpstream<T>(
  gateway: Gateway,
  call: Call,
  target: Omit<Target, 'upstreamModel'> & { upstreamModel: string | null },
  question: Question,
  read: (body: Buffer) => T,
): Promise<T> {
  if (call.clientGone) throw clientLeft()
  const sentAt = Date.now()
  const attempt = newAttempt(target)
  call.attempts.push(attempt)
  call.asked = target
  call.sentAt ??= sentAt
  for (const secret of target.channel.credentials) if (secret !== '') call.credentials.add(secret)
  const side = upstreamSide(target.protocol)
  try {
    const { status, headers, body } = await whole(
      gateway,
      call,
      target,
      {
        ...question,
        stream: false,
        authHeaders: side.authHeaders,
      },
      (status, headers) => {
        attempt.status = status
        attempt.firstByteMs = Date.now() - sentAt
        attempt.upstreamRequestId = textOf(headers['x-request-id'])
      },
    )
    if (status !== 200) throw side.decodeError(status, headers, body)
    return read(body)
  } catch (cause) {
    const error = asGatewayError(cause)
    if (!call.clientGone) attempt.error = { kind: error.kind, message: error.message }
    throw error
  } finally {
    attempt.totalMs = Date.now() - sentAt
    call.running = undefined
  }
}

interface Whole {
  status: number
  headers: ResponseHeaders
  body: Buffer
}

function whole(
  gateway: Gateway,
  call: Call,
  target: Pick<Target, 'channel' | 'baseUrl'>,
  request: UpstreamRequest,
  onStart: (status: number, headers: ResponseHeaders) => void,
): Promise<Whole> {
  return new Promise((resolve, reject) => {
    const { watchedAnswerBytesMax } = gateway.bounds
    let status = 0
    let headers: ResponseHeaders = {}
    let bytes = 0
    const chunks: Buffer[] = []
    const listener: Listener = {
      start(upstream, startStatus, startHeaders) {
        status = startStatus
        headers = startHeaders
        onStart(status, headers)
        const encoding = textOf(headers['content-encoding'])
        if (encoding !== null && encoding !== 'identity') {
          upstream.abort(
            new GatewayError('upstream_error', 'The upstream answered in an encoding it was not asked for.'),
          )
        }
      },
      data(upstream, chunk) {
        if (status !== 200 && bytes >= refusalBytesMax) return
        bytes += chunk.length
        if (bytes <= watchedAnswerBytesMax) chunks.push(chunk)
        else {
          upstream.abort(
            new GatewayError(
              'upstream_error',
              `The upstream answered with more than ${watchedAnswerBytesMax} bytes.`,
            ),
          )
        }
      },
      end: () => resolve({ status, headers, body: Buffer.concat(chunks) }),
      fail: reject,
    }
    call.running = gateway.upstreams.call(target, request, listener)
  })
}

function textOf(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null
}

function clientLeft(): GatewayError {
  return new GatewayError('upstream_error', 'The client went away before anything was sent.', {
    fault: 'client',
  })
}
