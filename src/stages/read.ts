import { mayUse } from '../access/permitted.ts'
import { GatewayError } from '../canonical/error.ts'
import { findModel } from '../catalog/catalog.ts'
import type { Model } from '../catalog/snapshot.ts'
import { readBody } from '../http/body.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import type { Gateway } from './gateway.ts'
import { answeredBefore, isKeyed, type ReplayJob } from './idempotency.ts'
import type { Identified } from './identify.ts'
import { takeLimits } from './take-limits.ts'

/** The third stage: the body has come whole, and its format is right. */
export interface Asked<Facts extends AskedFacts = RequestFacts> extends Identified {
  /** Whole, as it came. Do not read it after the end of the request. */
  readonly body: Buffer
  readonly facts: Facts
}

interface AskedFacts {
  model: string
  stream: boolean
}

/** Why a request goes no further: its client has left, or it repeats an earlier request and got that one's answer. */
export type NotAsked = 'left' | 'answered'

/**
 * Take a request and a place of the limits, read the body, and decode it with `decode`. Answers a repeat of an earlier request
 * and writes its row. `replayJob`: how to answer a repeat on an endpoint whose answer is a job.
 * Rejects `rate_limited`, `invalid_request`, `request_too_large`, `unavailable`, or as `answeredBefore` does.
 */
export async function read<Facts extends AskedFacts>(
  gateway: Gateway,
  identified: Identified,
  decode: (body: Buffer) => Facts,
  replayJob?: ReplayJob,
): Promise<Asked<Facts> | NotAsked> {
  const taking = takeLimits(gateway, identified)
  if (taking !== undefined) await taking
  const body = await readWhole(gateway, identified)
  if (body === undefined) return 'left'
  const facts = decode(body)
  const { row } = identified
  row.requestedModel = facts.model
  row.stream = facts.stream
  if (isKeyed(identified) && (await answeredBefore(gateway, identified, body, replayJob))) return 'answered'
  return Object.assign(identified, { body, facts })
}

/** The bytes of the body, until the end of the request; undefined: the client left before all had come. */
export async function readWhole(gateway: Gateway, identified: Identified): Promise<Buffer | undefined> {
  const { life, row } = identified
  if (life.clientGone) return undefined
  const share = gateway.bodies.begin(identified.identity.keyId)
  life.releases.push(share.release)
  const body = await readBody(identified.request, gateway.bounds.bodyBytesMax, share)
  if (body === undefined) {
    life.clientGone = true
    return undefined
  }
  row.body = body.bytes
  life.slabs.push(body.release)
  return body.bytes
}

/** The model that a request names. Throws `model_not_found`, or `permission_denied` where the key may not use it. */
export function requireModel({ snapshot, identity }: Identified, name: string): Model {
  const model = findModel(snapshot, name)
  if (model === undefined) {
    throw new GatewayError(
      'model_not_found',
      `Model "${redactText(name)}" does not exist here. GET /v1/models lists what this key may use.`,
      { field: 'model' },
    )
  }
  if (mayUse(snapshot, identity, name)) return model
  throw new GatewayError(
    'permission_denied',
    `This key may not use model "${redactText(name)}". GET /v1/models lists what it may use.`,
    { field: 'model' },
  )
}
