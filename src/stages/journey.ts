import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Identity } from '../access/identity.ts'
import { mayUse } from '../access/permitted.ts'
import { GatewayError } from '../canonical/error.ts'
import { findModel } from '../catalog/catalog.ts'
import type { Model, Snapshot } from '../catalog/snapshot.ts'
import { redactText } from '../redaction/redact.ts'
import { asGatewayError, type Call, type Endpoint } from './call.ts'
import type { Gateway } from './gateway.ts'
import { beginCall, refuse } from './settle.ts'

/** What every journey has in common: whatever its stations throw becomes the answer, with its row. */
export function journey(
  gateway: Gateway,
  endpoint: Endpoint,
  serve: (gateway: Gateway, call: Call) => Promise<void>,
) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = beginCall(gateway, endpoint, request, response)
    try {
      await serve(gateway, call)
    } catch (error) {
      await refuse(gateway, call, asGatewayError(error)).catch((cause: unknown) => {
        // Not even the refusal could be written: nobody is left to tell but the operator.
        gateway.log.error(
          { request: call.id, cause: redactText(String(cause)) },
          'a request could not be refused',
        )
        response.destroy()
      })
    }
  }
}

/** The model that a request names. Throws `model_not_found`, or `permission_denied` where the key may not use it. */
export function requireModel(snapshot: Snapshot, identity: Identity, name: string): Model {
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
