import type { Request, Response } from 'express'
import { GatewayError } from '../canonical/error.ts'
import { type Json, parseObject, textOf } from '../canonical/json.ts'
import { askUpstream } from '../gateway/ask-upstream.ts'
import { estimateInputTokens } from '../gateway/estimate.ts'
import { holdersOf } from '../gateway/holders.ts'
import { forwardedHeaders, noteTranslation, withoutForeignReasoning } from '../gateway/prepare.ts'
import { conversationRefused } from '../protocols/conversation.ts'
import { envelopeMark } from '../protocols/envelope.ts'
import { type Candidate, planRoute } from '../routing/candidates.ts'
import { standInJournal } from '../stages/admit.ts'
import { asGatewayError, type Call } from '../stages/call.ts'
import type { Gateway } from '../stages/gateway.ts'
import { type OwnCall, readJson, resolveModel, takeTurn } from './call.ts'

/** How a format counts the tokens of a request before it is sent. */
interface CountFormat {
  /** Below the channel's base URL. */
  path: string
  /** What the format's answer looks like. */
  answer(tokens: number): Json
  /** Makes a whole request of the body, which lacks what only an answer needs. */
  complete(body: Json): Json
  /** Id of an earlier answer that counts too. Throws `invalid_request` or `unsupported_parameter`. */
  heldId(body: Json): string | undefined
}

const formats = {
  'anthropic-messages': {
    path: '/v1/messages/count_tokens',
    answer: (tokens) => ({ input_tokens: tokens }),
    complete: (body) => ({ max_tokens: 1, ...body }),
    heldId: () => undefined,
  },
  'openai-responses': {
    path: '/responses/input_tokens',
    answer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    complete: (body) => body,
    heldId: heldAnswer,
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
    const planned = planRoute(model, name, group, protocol)
    const heldId = format.heldId(body)
    const targets = heldId === undefined ? planned : await holdersOf(gateway, identity, heldId, planned)
    await takeTurn(gateway, call, identity)
    const counted = await ask(gateway, call, targets, format, body)
    if (counted !== undefined) {
      response.set(call.headers).json(counted)
      return
    }
    // Whoever was asked, the answer is none of theirs.
    call.asked = null
    const decoded = call.endpoint.client.decodeRequest(format.complete(body), { envelope: gateway.envelope })
    response.setHeader('x-tollgate-estimated', 'true')
    response.json(format.answer(estimateInputTokens(decoded)))
  }
}

/** Undefined when no channel can tell. Throws what an upstream has against the request itself. */
async function ask(
  gateway: Gateway,
  call: Call,
  targets: readonly Candidate[],
  format: CountFormat,
  body: Json,
): Promise<Json | undefined> {
  const able = targets.filter(({ native }) => native).slice(0, gateway.bounds.attemptsMax)
  if (able.length > 0) await standInJournal(gateway, call, call.body)
  const hasSeals = call.body?.includes(envelopeMark) === true
  const { json, notes } = hasSeals ? withoutForeignReasoning(body) : { json: body, notes: [] }
  for (const target of able) {
    const question = {
      method: 'POST',
      path: format.path,
      body: Buffer.from(JSON.stringify({ ...json, model: target.upstreamModel })),
      headers: forwardedHeaders(gateway, call),
    } as const
    try {
      const counted = await askUpstream(gateway, call, target, question, countedIn)
      if (notes.length > 0) noteTranslation(call, target, notes)
      return counted
    } catch (cause) {
      const { kind } = asGatewayError(cause)
      if (call.clientGone || call.shuttingDown || kind === 'invalid_request') throw cause
    }
  }
  return undefined
}

function countedIn(body: Buffer): Json {
  const answer = parseObject(body.toString('utf8'))
  if (typeof answer?.input_tokens === 'number') return answer
  throw new GatewayError('upstream_error', 'The upstream answered without a number of tokens.')
}

function heldAnswer({ conversation, previous_response_id: id }: Json): string | undefined {
  if (conversation !== undefined && conversation !== null) throw conversationRefused()
  if (id === undefined || id === null || id === '') return undefined
  if (typeof id === 'string') return id
  throw new GatewayError('invalid_request', 'previous_response_id: expected a string', {
    field: 'previous_response_id',
  })
}
