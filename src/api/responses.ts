import type { Request, Response } from 'express'
import { GatewayError } from '../canonical/error.ts'
import { askUpstream } from '../gateway/ask-upstream.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { findHolder } from '../gateway/holders.ts'
import { groupOf } from '../gateway/route.ts'
import { redactText } from '../ledger/redact.ts'
import { upstreamSide } from '../protocols/index.ts'
import type { OwnCall } from './call.ts'

/**
 * `GET` and `DELETE /v1/responses/{id}`: answered by the channel that holds the answer. An id that the caller's tenant
 * never got here is not found, whoever else may have it.
 */
export function heldAnswerRoute(gateway: Gateway, ownCall: OwnCall, method: 'GET' | 'DELETE') {
  return async (request: Request, response: Response): Promise<void> => {
    const { identity } = await ownCall(request)
    const id = String(request.params.id)
    const { snapshot } = gateway.catalog
    const name = await findHolder(gateway, identity, id)
    const channel = [...snapshot.channels.values()].find((one) => one.name === name)
    const { channels } = groupOf(snapshot, identity.groupId)
    const baseUrl = channel?.protocols['openai-responses']
    const allowed = channel !== undefined && (channels.includes('*') || channels.includes(channel.name))
    if (channel === undefined || baseUrl === undefined || !allowed) throw notHeld(id)
    const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : ''
    if (/[?&]stream=true/.test(query)) {
      throw new GatewayError('unsupported_parameter', 'stream: a held answer is only given whole here', {
        field: 'stream',
      })
    }
    const side = upstreamSide('openai-responses')
    const { status, headers, body } = await askUpstream(
      gateway,
      { channel, baseUrl },
      {
        method,
        path: `/responses/${encodeURIComponent(id)}${query}`,
        body: null,
        stream: false,
        headers: [],
        authHeaders: side.authHeaders,
      },
    )
    if (status === 404) throw notHeld(id)
    if (status !== 200) throw side.decodeError(status, headers, body)
    if (method === 'DELETE') await gateway.heldAnswers.forget(identity.tenantId, id).catch(() => {})
    response.setHeader('content-type', 'application/json')
    response.end(body)
  }
}

function notHeld(id: string): GatewayError {
  return new GatewayError(
    'unknown_path',
    `No answer "${redactText(id.slice(0, 256))}" of yours is held here. Only answers of channels that speak the Responses format are, and only when "store" is not false.`,
  )
}
