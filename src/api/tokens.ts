import type { Request, Response } from 'express'
import { GatewayError } from '../canonical/error.ts'
import { isRecord, type Json, textOf } from '../canonical/json.ts'
import { askUpstream } from '../gateway/ask-upstream.ts'
import type { Call } from '../gateway/call.ts'
import { estimateInputTokens } from '../gateway/estimate.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { forwardedHeaders } from '../gateway/prepare.ts'
import { planRoute, type Target } from '../gateway/route.ts'
import { upstreamSide } from '../protocols/index.ts'
import { type OwnCall, readJson, resolveModel } from './call.ts'

/** How a format counts the tokens of a request before it is sent. */
interface CountFormat {
  /** Below the channel's base URL. */
  path: string
  /** What the format's answer looks like. */
  answer(tokens: number): Json
  /** Makes a whole request of the body, which lacks what only an answer needs. */
  complete(body: Json): Json
}

const formats = {
  'anthropic-messages': {
    path: '/v1/messages/count_tokens',
    answer: (tokens) => ({ input_tokens: tokens }),
    complete: (body) => ({ max_tokens: 1, ...body }),
  },
  'openai-responses': {
    path: '/responses/input_tokens',
    answer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    complete: (body) => body,
  },
} as const satisfies Record<string, CountFormat>

/**
 * `POST /v1/messages/count_tokens` and `POST /v1/responses/input_tokens`: asked of a channel that speaks the format;
 * where none does, or it does not count, our own estimate, and the header `x-tollgate-estimated: true` says so.
 */
export function tokenRoute(gateway: Gateway, ownCall: OwnCall, protocol: keyof typeof formats) {
  const format: CountFormat = formats[protocol]
  return async (request: Request, response: Response): Promise<void> => {
    const { call, identity } = await ownCall(request)
    call.endpoint.client.checkHeaders?.(request.headers)
    const body = await readJson(gateway, call)
    const { model, name, group } = resolveModel(gateway, call, identity, textOf(body.model))
    const counted = await ask(gateway, call, planRoute(model, name, group, protocol), format, body)
    if (counted !== undefined) {
      response.json(counted)
      return
    }
    const decoded = call.endpoint.client.decodeRequest(format.complete(body), { envelope: gateway.envelope })
    response.setHeader('x-tollgate-estimated', 'true')
    response.json(format.answer(estimateInputTokens(decoded)))
  }
}

/** Undefined when no channel can tell. Throws what an upstream has against the request itself. */
async function ask(
  gateway: Gateway,
  call: Call,
  targets: readonly Target[],
  format: CountFormat,
  body: Json,
): Promise<Json | undefined> {
  for (const target of targets.filter(({ native }) => native).slice(0, gateway.bounds.attemptsMax)) {
    const side = upstreamSide(target.protocol)
    const asked = await askUpstream(gateway, target, {
      method: 'POST',
      path: format.path,
      body: Buffer.from(JSON.stringify({ ...body, model: target.upstreamModel })),
      stream: false,
      headers: forwardedHeaders(gateway, call),
      authHeaders: side.authHeaders,
    }).catch(() => undefined)
    if (asked === undefined) continue
    if (asked.status === 200) return answerOf(asked.body)
    const error = side.decodeError(asked.status, asked.headers, asked.body)
    if (error instanceof GatewayError && error.kind === 'invalid_request') throw error
  }
  return undefined
}

function answerOf(body: Buffer): Json | undefined {
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'))
    return isRecord(answer) && typeof answer.input_tokens === 'number' ? answer : undefined
  } catch {
    return undefined
  }
}
