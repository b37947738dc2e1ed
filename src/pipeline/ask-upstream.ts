import { gatewayError } from '../canonical/error.ts'
import { callsIn } from '../journal/record.ts'
import { upstreamSide } from '../protocols/index.ts'
import type { Candidate, Target } from '../routing/candidates.ts'
import { type Credential, credentialsOf } from '../routing/credentials.ts'
import type { Listener, ResponseHeaders, UpstreamRequest } from '../upstream/upstreams.ts'
import { attemptError, newAttempt, requestIdIn } from './attempt.ts'
import { asGatewayError } from './ending.ts'
import type { Gateway } from './gateway.ts'
import type { Received } from './received.ts'
import { knownSecrets } from './redact-error.ts'
import { traceAttempt } from './trace-attempt.ts'

export type SmallCall = Pick<UpstreamRequest, 'method' | 'path' | 'body' | 'headers'>

/** The largest part of an upstream's refusal that we read. */
const refusalBytesMax = 64 * 1024

/**
 * Makes one small call to an upstream for a request that is in the journal, such as fetching a kept answer.
 * The call is an attempt of the request and ends when the client leaves. `read` decodes the complete answer;
 * an error that it throws counts as the upstream's failure. Rejects with a GatewayError when there is no
 * answer, using the upstream's own error if it sent one.
 */
export async function askUpstream<T>(
  gateway: Gateway,
  received: Received,
  candidate: Omit<Candidate, 'upstreamModel' | 'modelNamedBy' | 'traits'> & { upstreamModel: string | null },
  call: SmallCall,
  read: (body: Buffer) => T,
): Promise<T> {
  const { life, row, trace, endpoint } = received
  if (life.clientGone) throw gatewayError('upstream_call_abandoned')
  if (life.cut !== undefined) throw life.cut
  const { clock } = gateway
  const sentAt = clock.now()
  const target = { ...candidate, credential: credentialFor(gateway, candidate) }
  const attempt = newAttempt(target)
  row.attempts.push(attempt)
  row.asked = target
  row.sentAt ??= sentAt
  row.called.push(target)
  const side = upstreamSide(target.protocol)
  const traced = traceAttempt(gateway, trace, {
    record: attempt,
    target,
    path: endpoint.path,
    before: callsIn(row.attempts) - 1,
  })
  try {
    const { status, headers, body } = await readWhole(
      gateway,
      received,
      target,
      {
        ...call,
        stream: false,
        traceHeaders: traced?.headers,
      },
      (status, headers) => {
        attempt.status = status
        attempt.firstByteMs = clock.now() - sentAt
        attempt.upstreamRequestId = requestIdIn(headers, knownSecrets(received))
      },
    )
    if (status !== 200) throw side.decodeError(status, headers, body)
    return read(body)
  } catch (cause) {
    const error = asGatewayError(cause)
    if (!life.clientGone) attempt.error = attemptError(error)
    throw error
  } finally {
    attempt.totalMs = clock.now() - sentAt
    traced?.end()
    life.running = undefined
  }
}

/**
 * Returns the credential that holds the wanted answer, otherwise one without a cooldown, otherwise any. The
 * outcome of a small call does not affect the channel's health, because some upstreams do not support all of
 * these calls.
 */
function credentialFor(
  { routing }: Gateway,
  {
    channel,
    pinned,
    upstreamModel,
  }: Pick<Candidate, 'channel' | 'pinned'> & { upstreamModel: string | null },
): Credential {
  const all = credentialsOf(channel, () => undefined)
  const isCoolingDown = (credential: Credential) =>
    routing.cooldowns.find(channel.id, credential, upstreamModel ?? '') !== undefined
  const best = all.find(({ name }) => name === pinned) ?? all.find((one) => !isCoolingDown(one)) ?? all[0]
  return best ?? { secret: '', name: '' }
}

interface WholeResponse {
  status: number
  headers: ResponseHeaders
  body: Buffer
}

function readWhole(
  gateway: Gateway,
  { books, life }: Received,
  target: Pick<Target, 'channel' | 'credential' | 'baseUrl' | 'protocol'>,
  request: UpstreamRequest,
  onStart: (status: number, headers: ResponseHeaders) => void,
): Promise<WholeResponse> {
  return new Promise((resolve, reject) => {
    const { watchedAnswerBytesMax } = gateway.bounds
    let status = 0
    let headers: ResponseHeaders = {}
    let bytes = 0
    const chunks: Buffer[] = []
    const listener: Listener = {
      start(_upstream, startStatus, startHeaders) {
        status = startStatus
        headers = startHeaders
        onStart(status, headers)
      },
      data(upstream, chunk) {
        bytes += chunk.length
        if (status !== 200 && bytes > refusalBytesMax) {
          // Decode the refusal from the bytes received so far.
          if (bytes - chunk.length <= refusalBytesMax) chunks.push(chunk)
          resolve({ status, headers, body: Buffer.concat(chunks) })
          upstream.abort(gatewayError('upstream_refusal_too_long'))
          return
        }
        if (bytes <= watchedAnswerBytesMax) chunks.push(chunk)
        else {
          const facts = { bytesMax: watchedAnswerBytesMax }
          upstream.abort(gatewayError('upstream_answer_too_large', facts, { fault: 'upstream' }))
        }
      },
      end: () => resolve({ status, headers, body: Buffer.concat(chunks) }),
      fail: reject,
    }
    life.running = books.upstreams.call(target, request, listener)
  })
}
