import { GatewayError } from '../canonical/error.ts'
import { isRecord, textOf } from '../canonical/json.ts'
import { translate } from '../gateway/translate.ts'
import { protocols } from '../protocols/index.ts'
import type { ClientSide, Protocol, ProtocolName, UpstreamSide } from '../protocols/protocol.ts'
import type { Gateway } from '../stages/gateway.ts'
import { takeLimits } from '../stages/take-limits.ts'
import type { OwnEndpoint } from './own-endpoint.ts'
import { readJson } from './read-json.ts'

/**
 * `POST /v1/translate` with `{ from, to, model?, strict?, request }`: what would be sent to an upstream, and what would
 * become of every field. Nobody is called and nothing is charged but the limits of the key. `from` and `to` are protocols.
 */
export function translateEndpoint(gateway: Gateway): OwnEndpoint {
  return {
    method: 'POST',
    path: '/v1/translate',
    summary: 'What a request would be in another format, and what would become of every field',
    logged: true,
    needsKey: true,
    async handle({ stage }) {
      await takeLimits(gateway, stage, 0)
      const wanted = await readJson(gateway, stage)
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
        return { body: { path, body: { ...wanted.request, model: upstreamModel }, notes: [] } }
      }
      const { body, notes } = translate(
        {
          client: from.side,
          body: wanted.request,
          requestId: stage.id,
          model,
          stream,
          createdAtSeconds: Math.floor(stage.startedAt / 1000),
          inputTokensEstimate: 0,
          envelope: gateway.envelope,
          strict:
            wanted.strict === true ||
            stage.identity.strict ||
            stage.request.headers['x-tollgate-strict'] === 'true',
          maxOutputTokensDefault:
            stage.snapshot.models.get(model)?.maxOutputTokens ?? gateway.bounds.outputTokensDefault,
          frameBytesMax: gateway.bounds.sseFrameBytesMax,
          answerSizeMax: gateway.bounds.watchedAnswerBytesMax,
          redactError: (error) => error,
        },
        { protocol: to.name, upstreamModel },
      )
      return { body: { path, body, notes } }
    },
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
