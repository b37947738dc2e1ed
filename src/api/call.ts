import type { Request } from 'express'
import type { Identity } from '../access/identity.ts'
import { mayUse } from '../access/permitted.ts'
import { GatewayError } from '../canonical/error.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { findModel } from '../catalog/catalog.ts'
import type { Group, Model } from '../catalog/snapshot.ts'
import { readBody } from '../http/body.ts'
import { checkText, scanMembers } from '../protocols/json-scan.ts'
import { redactText } from '../redaction/redact.ts'
import { groupOf } from '../routing/candidates.ts'
import type { Call } from '../stages/call.ts'
import type { Gateway } from '../stages/gateway.ts'
import { takeLimits } from '../stages/take-limits.ts'

/** The call behind a request inside `answer`, and who makes it. Throws, or rejects with, GatewayError. */
export type OwnCall = (request: Request) => Promise<{ call: Call; identity: Identity }>

/**
 * Charge a request to the limits that hold for its key: it is work for us, or for an upstream, as a chat request is. It
 * has no tokens. Rejects with `rate_limited`.
 */
export async function takeTurn(gateway: Gateway, call: Call, identity: Identity): Promise<void> {
  await takeLimits(gateway, call, identity, groupOf(gateway.catalog.snapshot, identity.groupId), 0)
  for (const [name, value] of Object.entries(call.headers)) call.response.setHeader(name, value)
}

/**
 * The body as a JSON object, within the bounds of a chat's; on the row too. Throws `invalid_request` or
 * `request_too_large`.
 */
export async function readJson(gateway: Gateway, call: Call): Promise<Json> {
  const body = call.body ?? (await readWhole(gateway, call))
  checkText(body)
  const whole = { start: 0, end: body.length }
  const { jsonDepthMax, jsonValuesMax } = gateway.bounds
  scanMembers(body, whole, [], { depthMax: jsonDepthMax, valuesMax: jsonValuesMax })
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new GatewayError('invalid_request', 'body: expected JSON, but it does not parse', {
      field: 'body',
      cause,
    })
  }
  if (isRecord(value)) return value
  throw new GatewayError('invalid_request', 'body: expected a JSON object', { field: 'body' })
}

/** The body as it came, on the row too. Throws `invalid_request` or `request_too_large`. */
export async function readWhole(gateway: Gateway, call: Call): Promise<Buffer> {
  const { bodyBytesMax, decodedBytesMax } = gateway.bounds
  const decoded = { bytesMax: decodedBytesMax, releases: call.releases }
  const body = call.clientGone ? undefined : await readBody(call.request, bodyBytesMax, decoded)
  if (body === undefined) {
    call.clientGone = true
    throw new GatewayError('invalid_request', 'The request did not arrive whole.')
  }
  call.body = body.bytes
  call.slabs.push(body.release)
  return body.bytes
}

/** The model that a body names, which the key must be allowed to use. */
export function resolveModel(
  gateway: Gateway,
  call: Call,
  identity: Identity,
  name: string | undefined,
): { model: Model; name: string; group: Group } {
  if (name === undefined) {
    throw new GatewayError(
      'invalid_request',
      'model: required: the id of a model, as GET /v1/models lists them',
      {
        field: 'model',
      },
    )
  }
  const { snapshot } = gateway.catalog
  const model = findModel(snapshot, name)
  if (model === undefined || !mayUse(snapshot, identity, name)) {
    throw new GatewayError(
      'model_not_found',
      `Model "${redactText(name.slice(0, 256))}" is not one that this key may use. GET /v1/models lists those.`,
      { field: 'model' },
    )
  }
  call.requestedModel = name
  return { model, name, group: groupOf(snapshot, identity.groupId) }
}
