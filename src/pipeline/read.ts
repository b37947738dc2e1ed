import { mayUse } from '../access/permitted.ts'
import type { HostedWork } from '../bodies/hosted-work.ts'
import type { SignedNeed } from '../bodies/need-signs.ts'
import { type BodyFormat, factsFrom, fingerprintOf, type ReadResult } from '../bodies/read-body.ts'
import { GatewayError, gatewayError } from '../canonical/error.ts'
import { findModel } from '../catalog/catalog.ts'
import type { Model } from '../catalog/snapshot.ts'
import { isLarge, type LargeBodies } from '../http/body.ts'
import { bodyOwnerOf } from '../http/body-memory.ts'
import type { Outline } from '../protocols/json-scan.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import { keepShared, takeShared } from '../runtime/shared-memory.ts'
import type { Gateway } from './gateway.ts'
import { isMoneyLimited } from './hold-money.ts'
import { answeredBefore, isKeyed, isTaken, type ReplayJob } from './idempotency.ts'
import type { Identified } from './identify.ts'
import { inThread } from './in-thread.ts'
import type { Keeping } from './kept/keeping.ts'
import { ClientLeft, requireClient } from './life.ts'
import { takeLimits } from './take-limits.ts'

/**
 * The third stage: the body has been received completely and has the right format, and what the gateway adds
 * to it is there.
 */
export interface Asked<Facts extends AskedFacts = RequestFacts> extends Identified, Content<Facts> {}

/** What a request says: at first what the client sent, then what the gateway made of it. */
export interface Content<Facts extends AskedFacts = RequestFacts> {
  /** The complete body. It must not be read after the end of the request. */
  readonly body: Buffer
  /** Set for a large body, which only worker threads may read completely. */
  readonly large: LargeBody | undefined
  readonly facts: Facts
  /** Present when the gateway keeps the answer or sends kept turns again. */
  readonly kept?: Keeping
}

/** The facts about a large body that a worker thread has read. */
export interface LargeBody {
  readonly format: BodyFormat
  readonly hasEnvelopes: boolean
  readonly hasFiles: boolean
  readonly hostedWork: HostedWork
  readonly hiddenInput: readonly string[]
  readonly signedNeeds: readonly SignedNeed[]
  readonly vendorState: string | undefined
}

interface AskedFacts extends Partial<Pick<RequestFacts, 'conversation' | 'losesDigits'>> {
  model: string
  stream: boolean
}

/** How to read a body that the gateway built. */
export type MadeReading = Pick<Reading<RequestFacts>, 'decode' | 'format'>

/** How to read a body: a small one here, a large one in a worker thread. */
export interface Reading<Facts extends AskedFacts> {
  decode(body: Buffer, outline?: Outline): Facts
  format: BodyFormat
  /** The member with the conversation, if the body can be remembered. */
  turnsMember?: string
  /** Returns the facts that a worker thread has read. Throws like `decode`. */
  factsFrom(result: ReadResult): Facts
  /** Called with the facts as soon as they are known. */
  onFacts?(facts: Facts): void
}

/**
 * Charges a request to the limits, reads the client's body and decodes it. Resolves with undefined for a
 * repeat of an earlier request, which has then been answered and has its row. `replayJob` answers a repeat
 * on an endpoint whose answer is a job. Rejects with ClientLeft, `rate_limited`, `invalid_request`,
 * `request_too_large` or `unavailable`, or like `answeredBefore`.
 */
export async function read<Facts extends AskedFacts>(
  gateway: Gateway,
  identified: Identified,
  reading: Reading<Facts>,
  replayJob?: ReplayJob,
): Promise<Content<Facts> | undefined> {
  const deciding = decideFirst(gateway, identified)
  const refusal = deciding === undefined ? undefined : await deciding
  const { row, endpoint } = identified
  const body = await readWhole(gateway, identified, true)
  const result = isLarge(body) ? await readInThread(gateway, identified, body, reading.format) : undefined
  if (result !== undefined && 'refused' in result.facts) {
    row.requestedModel = result.facts.seen.model
    row.stream = result.facts.seen.stream
  }
  const recalled =
    result !== undefined || reading.turnsMember === undefined
      ? undefined
      : gateway.rememberedBodies.recall(identified.identity, endpoint.path, body, reading.turnsMember)
  const facts = result === undefined ? reading.decode(body, recalled?.outline) : reading.factsFrom(result)
  reading.onFacts?.(facts)
  row.requestedModel = facts.model
  row.stream = facts.stream
  if (isKeyed(identified)) {
    identified.trace?.step('idempotency')
    const print = result?.fingerprint ?? fingerprintOf(endpoint.path, body)
    if (await answeredBefore(gateway, identified, Buffer.from(print), replayJob)) return undefined
  }
  // The key of this repeat is free again, so it would run as a new request.
  if (refusal !== undefined) throw refusal
  const { format } = reading
  const large = result === undefined ? undefined : largeBodyOf(format, result)
  if (recalled !== undefined) gateway.rememberedBodies.keep(recalled, body, facts)
  return { body, large, facts }
}

/** Returns the facts that a worker thread has read from a large body. */
function largeBodyOf(format: BodyFormat, result: ReadResult): LargeBody {
  const { hasEnvelopes, hasFiles, hostedWork, hiddenInput, signedNeeds, vendorState } = result
  return { format, hasEnvelopes, hasFiles, hostedWork, hiddenInput, signedNeeds, vendorState }
}

/**
 * Returns the bytes of the body, valid until the end of the request. `mayBeLarge` means that the caller
 * passes a large body to a worker thread. Rejects with ClientLeft when the client leaves before the whole
 * body has been received.
 */
export async function readWhole(
  gateway: Gateway,
  identified: Identified,
  mayBeLarge = false,
): Promise<Buffer> {
  const { exchange, life, row, identity, trace } = identified
  trace?.step('read')
  requireClient(identified)
  const share = exchange.share ?? gateway.bodies.begin(bodyOwnerOf(identity))
  life.releases.push(share.release)
  const { bodyBytesMax, bodyThreadBytes } = gateway.bounds
  const large: LargeBodies | undefined = mayBeLarge
    ? { fromBytes: bodyThreadBytes, pace: (bytes) => gateway.turns.take(identity.keyId, bytes) }
    : undefined
  const body = await exchange.readBody(bodyBytesMax, share, large)
  if (body === undefined) {
    life.clientGone = true
    throw new ClientLeft()
  }
  if (!isLarge(body.bytes)) row.body = body.bytes
  life.slabs.push(body.release)
  return body.bytes
}

/**
 * Reads a body that the gateway built from the client's, such as one with kept turns before what the client
 * sent. The row keeps the client's body. Rejects like `read`.
 */
export async function readInstead(
  gateway: Gateway,
  identified: Identified,
  bytes: Buffer,
  reading: MadeReading,
): Promise<Content> {
  const { bodyBytesMax, bodyThreadBytes } = gateway.bounds
  if (bytes.length > bodyBytesMax) {
    throw gatewayError('kept_turns_too_large', { bytes: bytes.length, bytesMax: bodyBytesMax })
  }
  const share = gateway.bodies.begin(bodyOwnerOf(identified.identity))
  identified.life.releases.push(share.release)
  share.grow(bytes.length)
  if (bytes.length < bodyThreadBytes) return await readMade(gateway, identified, bytes, reading)
  const shared = takeShared(bytes.length)
  bytes.copy(shared)
  identified.life.slabs.push(() => keepShared(shared))
  return await readMade(gateway, identified, shared, reading)
}

/**
 * Like `readInstead`, for a body within the bounds. A large one must be readable by worker threads. What the
 * row shows of the client's body does not change.
 */
export async function readMade(
  gateway: Gateway,
  identified: Identified,
  body: Buffer,
  { decode, format }: MadeReading,
): Promise<Content> {
  const { bounds, bodyThreads } = gateway
  if (body.length < bounds.bodyThreadBytes) return { body, large: undefined, facts: decode(body) }
  requireClient(identified)
  bodyThreads.requireRoom(identified.identity.keyId)
  const input = {
    bytes: body,
    format,
    capture: 'none' as const,
    token: undefined,
    fingerprintPath: undefined,
    isMoneyLimited: isMoneyLimited(identified),
  }
  try {
    const result = await inThread(gateway, identified, { name: 'read', input })
    return { body, large: largeBodyOf(format, result), facts: factsFrom(result) }
  } catch (error) {
    requireClient(identified)
    throw error
  }
}

/** Rejects with `rate_limited` or `unavailable` when too many bodies wait for a thread. */
async function readInThread(
  gateway: Gateway,
  identified: Identified,
  bytes: Buffer,
  format: BodyFormat,
): Promise<ReadResult> {
  const { identity, row, endpoint, token } = identified
  requireClient(identified)
  gateway.bodyThreads.requireRoom(identity.keyId)
  const fingerprintPath = isKeyed(identified) ? endpoint.path : undefined
  try {
    const result = await inThread(gateway, identified, {
      name: 'read',
      input: {
        bytes,
        format,
        capture: identity.capture,
        token,
        fingerprintPath,
        isMoneyLimited: isMoneyLimited(identified),
      },
    })
    const { captured, names } = result
    row.read = { captured: captured === null ? null : Buffer.from(captured), names }
    return result
  } catch (error) {
    requireClient(identified)
    throw error
  }
}

/**
 * Returns the model that a request names. Throws `model_not_found`, or `permission_denied` when the key may
 * not use it.
 */
export function requireModel({ snapshot, identity }: Identified, name: string): Model {
  const model = findModel(snapshot, name)
  if (model === undefined) {
    throw gatewayError('model_unknown', { model: redactText(name) }, { field: 'model' })
  }
  if (mayUse(snapshot, identity, name)) return model
  throw gatewayError('model_forbidden', { model: redactText(name) }, { field: 'model' })
}

/**
 * Charges a request to the limits before the body is read. Throws, or rejects with, `rate_limited`. For a
 * possible repeat of an earlier request it resolves with that refusal instead, because a repeat may get the
 * first one's answer, which counts against no limit. The caller throws the refusal when `answeredBefore` has
 * not answered. Returns a promise only when another process must be asked.
 */
function decideFirst(
  gateway: Gateway,
  identified: Identified,
): Promise<GatewayError | undefined> | undefined {
  identified.trace?.step('limits')
  if (isKeyed(identified)) return decideKeyed(gateway, identified)
  return takeLimits(gateway, identified)?.then(() => undefined)
}

async function decideKeyed(gateway: Gateway, identified: Identified): Promise<GatewayError | undefined> {
  try {
    await takeLimits(gateway, identified)
    return undefined
  } catch (error) {
    if (error instanceof GatewayError && (await isTaken(gateway, identified))) return error
    throw error
  }
}
