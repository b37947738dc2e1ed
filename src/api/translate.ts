import type { Request, Response } from 'express'
import { GatewayError } from '../canonical/error.ts'
import { isRecord, textOf } from '../canonical/json.ts'
import { translate } from '../gateway/translate.ts'
import { protocols } from '../protocols/index.ts'
import type { ClientSide, Protocol, ProtocolName, UpstreamSide } from '../protocols/protocol.ts'
import type { Gateway } from '../stages/gateway.ts'
import { type OwnCall, readJson, takeTurn } from './call.ts'

/**
 * `POST /v1/translate` with `{ from, to, model?, strict?, request }`: what would be sent to an upstream, and what would
 * become of every field. Nobody is called and nothing is charged but the limits of the key. `from` and `to` are protocols.
 */
export function translateRoute(gateway: Gateway, ownCall: OwnCall) {
  return async (request: Request, response: Response): Promise<void> => {
    const { call, identity } = await ownCall(request)
    await takeTurn(gateway, call, identity)
    const wanted = await readJson(gateway, call)
    const from = clientNamed(wanted.from)
    const to = upstreamNamed(wanted.to)
    if (!isRecord(wanted.request)) {
      throw new GatewayError('invalid_request', 'request: expected the body of a request, an object', {
        field: 'request',
      })
    }
    const model = textOf(wanted.request.model) ?? ''
    const upstreamModel = textOf(wanted.model) ?? model
    const stream = wanted.request.stream === true
    const path = to.side.path({ model: upstreamModel, stream })
    if (from.name === to.name) {
      response.json({ path, body: { ...wanted.request, model: upstreamModel }, notes: [] })
      return
    }
    const { body, notes } = translate(
      {
        client: from.side,
        body: wanted.request,
        requestId: call.id,
        model,
        stream,
        createdAtSeconds: Math.floor(call.startedAt / 1000),
        inputTokensEstimate: 0,
        envelope: gateway.envelope,
        strict: wanted.strict === true || identity.strict || request.headers['x-tollgate-strict'] === 'true',
        maxOutputTokensDefault:
          gateway.catalog.snapshot.models.get(model)?.maxOutputTokens ?? gateway.bounds.outputTokensDefault,
        frameBytesMax: gateway.bounds.sseFrameBytesMax,
        answerSizeMax: gateway.bounds.watchedAnswerBytesMax,
        shown: (error) => error,
      },
      { protocol: to.name, upstreamModel },
    )
    response.json({ path, body, notes })
  }
}

function clientNamed(value: unknown): { name: ProtocolName; side: ClientSide } {
  const known = Object.values(protocols).filter(({ client }) => client !== undefined)
  const found = known.find(({ name }) => name === value)
  if (found?.client !== undefined) return { name: found.name, side: found.client }
  throw notNamed('from', known)
}

function upstreamNamed(value: unknown): { name: ProtocolName; side: UpstreamSide } {
  const known = Object.values(protocols).filter(({ upstream }) => upstream !== undefined)
  const found = known.find(({ name }) => name === value)
  if (found?.upstream !== undefined) return { name: found.name, side: found.upstream }
  throw notNamed('to', known)
}

function notNamed(field: string, known: readonly Protocol[]): GatewayError {
  const names = known.map(({ name }) => name).join(', ')
  return new GatewayError('invalid_request', `${field}: expected one of ${names}`, { field })
}
