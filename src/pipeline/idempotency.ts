import { createHash } from 'node:crypto'
import type { KeptAnswer, KeyState } from '../access/idempotency-keys.ts'
import { gatewayError } from '../canonical/error.ts'
import { invalid } from '../canonical/field-error.ts'
import { storageFull } from '../canonical/storage-full.ts'
import { end } from './end.ts'
import { answeredEnding } from './ending.ts'
import type { Gateway } from './gateway.ts'
import { Claim } from './idempotency-claim.ts'
import type { Identified } from './identify.ts'
import { requireClient } from './life.ts'
import type { Received } from './received.ts'

/**
 * Answers a repeat with the job that the first request became. `jobId` is the first request's id. The repeat
 * has its own row, which costs nothing: call `end` with `answeredEnding` before sending the last bytes. A
 * thrown error becomes the answer.
 */
export type ReplayJob = (received: Received, jobId: string) => Promise<void>

/** Whether a request has an Idempotency-Key. The rest of this file is only for such requests. */
export function isKeyed({ exchange }: Received): boolean {
  return exchange.headers['idempotency-key'] !== undefined
}

/**
 * Must be called for every POST that `isKeyed`, before `admit` and once its caller is known, its limits have
 * room and its body is read. Resolves with true for a repeat, which is then answered and has its row.
 * Resolves with false for the first request with its key; if it succeeds, `end` keeps its answer for repeats.
 *
 * `fingerprint` is the result of `fingerprintOf` for its path and body. An endpoint whose answer is a job
 * passes `replayJob`, and calls `answerIsJob` as soon as the job is accepted.
 *
 * Rejects with `invalid_request` for a wrong header, `request_in_progress` while the first request runs,
 * `idempotency_mismatch` when the first request had another path or body, `rate_limited` when the tenant's
 * storage is full, and `unavailable` while Postgres is down.
 */
export async function answeredBefore(
  gateway: Gateway,
  identified: Identified,
  fingerprint: Buffer,
  replayJob: ReplayJob = noJobs,
): Promise<boolean> {
  const { id, life } = identified
  const keyed = {
    ...keyOf(identified),
    fingerprint,
    requestId: id,
  }
  let found: KeyState
  try {
    found = await gateway.idempotency.claim(keyed)
  } catch (cause) {
    const message =
      'A request with an Idempotency-Key cannot run at the moment: the database is not responding, so nothing could ensure that it runs only once. Try again shortly.'
    throw gatewayError('database_away', { message }, { cause, retryAfterSeconds: 2 })
  }
  // A request that is not going to run counts against no limit, however often its client repeats it.
  if (found.state !== 'claimed') life.lease?.giveBack()
  switch (found.state) {
    case 'claimed': {
      const { idempotentAnswerBytesMax } = gateway.bounds
      life.claim = new Claim(gateway.idempotency, keyed, identified.exchange.reply, idempotentAnswerBytesMax)
      return false
    }
    case 'answered':
      await replay(gateway, identified, found.requestId, found.answer)
      return true
    case 'job':
      await replayJob(identified, found.requestId)
      return true
    case 'full':
      throw storageFull(gateway.bounds.keptTenantBytesMax, 'Idempotency-Key')
    case 'running':
      throw gatewayError('idempotent_request_running', {}, { retryAfterSeconds: 1 })
    case 'different':
      throw gatewayError('idempotency_key_reused')
    case 'lost':
      throw gatewayError('idempotency_answer_lost', { id: found.requestId })
  }
}

/**
 * Must be called when Postgres has accepted the job of a request. From then on, repeats get that job from
 * `replayJob` and never run, even if this process dies. Does nothing for a request without a key.
 */
export function answerIsJob({ life }: Received): void {
  life.claim?.keepAsJob()
}

/**
 * Whether an earlier request used this key. Only reads; resolves with false while Postgres is down. Rejects
 * with `invalid_request`.
 */
export async function isTaken(gateway: Gateway, identified: Identified): Promise<boolean> {
  return await gateway.idempotency.isTaken(keyOf(identified)).catch(() => false)
}

function keyOf(identified: Identified) {
  return {
    keyId: identified.identity.keyId,
    tenantId: identified.identity.tenantId,
    keyHash: createHash('sha256').update(headerOf(identified)).digest(),
  }
}

const visibleAscii = /^[\x21-\x7e]{1,255}$/

function headerOf({ exchange }: Received): string {
  const value = String(exchange.headers['idempotency-key'])
  if (visibleAscii.test(value)) return value
  throw invalid('Idempotency-Key', 'expected 1 to 255 visible ASCII characters, such as a UUID')
}

async function replay(
  gateway: Gateway,
  received: Received,
  firstId: string,
  { status, headers, body }: KeptAnswer,
): Promise<void> {
  const { id, exchange, endpoint, life } = received
  const { reply } = exchange
  requireClient(received)
  await end(gateway, received, answeredEnding(status))
  if (life.clientGone || reply.destroyed) return
  const { requestIdHeader = 'x-request-id' } = endpoint.client
  reply.writeHead(status, {
    ...headers,
    'content-length': body.length,
    'x-request-id': id,
    [requestIdHeader]: id,
    'idempotency-replayed': 'true',
    'x-tollgate-original-request-id': firstId,
  })
  reply.end(body)
}

function noJobs(): Promise<void> {
  throw new Error('found an image job for an endpoint that has no jobs')
}
