import { createHash } from 'node:crypto'
import type { Found, KeptAnswer } from '../access/idempotency-keys.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Call } from './call.ts'
import type { Gateway } from './gateway.ts'
import { Claim } from './idempotency-claim.ts'
import { nothingMetered } from './meter.ts'
import { leftBeforeSending, settle } from './settle.ts'

/**
 * Answer a repeat with the job that the first request with its key became. It has a row of its own, which costs
 * nothing: `settle` it before the last bytes, with `nothingMetered` and without a target. `jobId` is the first request's id.
 * What it throws becomes the answer.
 */
export type ReplayJob = (gateway: Gateway, call: Call, jobId: string) => Promise<void>

/** Whether a request came with an Idempotency-Key. Costs nothing: the rest of this file is only for those that did. */
export function isKeyed({ request }: Call): boolean {
  return request.headers['idempotency-key'] !== undefined
}

/**
 * For every POST that `isKeyed`, once its caller is known and its body is read, and before anything is admitted: true
 * when it was answered here and has its row; nothing is left to do then. False: it is the first one of its key. What
 * it is answered is kept for repeats from then on, unless it ends other than well; nobody has to see to that, as long
 * as the call is settled.
 *
 * An endpoint whose answer is a job's gives `replayJob`, and calls `answerIsJob` as soon as the job is accepted.
 *
 * Throws `invalid_request` for a wrong header, `request_in_progress` while the first request runs,
 * `idempotency_mismatch` when the first one was another, and `unavailable` while Postgres is away.
 */
export async function answeredBefore(
  gateway: Gateway,
  call: Call,
  replayJob: ReplayJob = noJobs,
): Promise<boolean> {
  const { identity, body } = call
  if (identity === null || body === null) throw new Error('answeredBefore is for calls with caller and body')
  const keyed = {
    keyId: identity.keyId,
    keyHash: createHash('sha256').update(headerOf(call)).digest(),
    fingerprint: createHash('sha256').update(`${call.endpoint.path}\n`).update(body).digest(),
    requestId: call.id,
  }
  let found: Found
  try {
    found = await gateway.idempotency.claim(keyed)
  } catch (cause) {
    throw new GatewayError(
      'unavailable',
      'That a request with an Idempotency-Key runs only once cannot be promised just now: the database does not answer. Try again shortly.',
      { cause, retryAfterSeconds: 2 },
    )
  }
  switch (found.state) {
    case 'claimed': {
      const { idempotentAnswerBytesMax } = gateway.bounds
      call.claim = new Claim(gateway.idempotency, keyed, call.response, idempotentAnswerBytesMax)
      return false
    }
    case 'answered':
      await replay(gateway, call, found.requestId, found.answer)
      return true
    case 'job':
      await replayJob(gateway, call, found.requestId)
      return true
    case 'running':
      throw new GatewayError(
        'request_in_progress',
        'The first request with this Idempotency-Key has not ended. Try again to get its answer.',
        { retryAfterSeconds: 1 },
      )
    case 'different':
      throw new GatewayError(
        'idempotency_mismatch',
        'The first request with this Idempotency-Key had another path or body. Give each request a key of its own.',
      )
    case 'lost':
      throw new GatewayError(
        'idempotency_mismatch',
        `Request ${found.requestId} had this Idempotency-Key and succeeded, but its answer was lost before it could be kept. Send another key to have it done again.`,
        { code: 'idempotency_answer_lost' },
      )
  }
}

/**
 * The answer of this request is the job with its id, which Postgres has accepted: repeats get it from the `replayJob` of
 * their endpoint, and none of them runs, whatever becomes of this call and this process. Without a key: nothing.
 */
export function answerIsJob({ claim }: Call): void {
  claim?.keepAsJob()
}

const visibleAscii = /^[\x21-\x7e]{1,255}$/

function headerOf({ request }: Call): string {
  const value = String(request.headers['idempotency-key'])
  if (visibleAscii.test(value)) return value
  throw new GatewayError(
    'invalid_request',
    'Idempotency-Key: expected 1 to 255 visible ASCII characters, such as a UUID',
    { field: 'Idempotency-Key' },
  )
}

async function replay(gateway: Gateway, call: Call, firstId: string, answer: KeptAnswer): Promise<void> {
  const { status, headers, body } = answer
  const { response } = call
  if (call.clientGone) return settle(gateway, call, leftBeforeSending)
  await settle(gateway, call, {
    status,
    outcome: 'succeeded',
    error: null,
    observation: null,
    streamEnd: 'complete',
    target: null,
    metered: nothingMetered,
  })
  if (call.clientGone || response.destroyed) return
  const { requestIdHeader = 'x-request-id' } = call.endpoint.client
  response.writeHead(status, {
    ...headers,
    'content-length': body.length,
    'x-request-id': call.id,
    [requestIdHeader]: call.id,
    'idempotency-replayed': 'true',
    'x-tollgate-original-request-id': firstId,
  })
  response.end(body)
}

function noJobs(): Promise<void> {
  throw new Error('an image job is the answer of an endpoint that knows none')
}
