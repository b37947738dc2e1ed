import { GatewayError } from '../canonical/error.ts'
import { type Json, parseObject, textOf } from '../canonical/json.ts'
import { askUpstream } from '../gateway/ask-upstream.ts'
import { estimateInputTokens } from '../gateway/estimate.ts'
import { forwardedHeaders } from '../gateway/forwarded-headers.ts'
import { holdersOf } from '../gateway/holders.ts'
import { noteTranslation } from '../gateway/note-translation.ts'
import { withoutForeignReasoning } from '../gateway/prepare.ts'
import { conversationRefused } from '../protocols/conversation.ts'
import { envelopeMark } from '../protocols/envelope.ts'
import { type Candidate, planRoute } from '../routing/candidates.ts'
import { asGatewayError } from '../stages/ending.ts'
import type { Gateway } from '../stages/gateway.ts'
import type { Identified } from '../stages/identify.ts'
import { openInJournal } from '../stages/open-record.ts'
import { requireModel } from '../stages/read.ts'
import { takeLimits } from '../stages/take-limits.ts'
import type { OwnEndpoint } from './own-endpoint.ts'
import { readJson } from './read-json.ts'

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
 * How many tokens a request would have: asked of a channel that speaks the format; where none does, or it does not count,
 * our own estimate, and the header `x-tollgate-estimated: true` says so.
 */
export function countTokensEndpoints(gateway: Gateway): OwnEndpoint[] {
  return [
    countTokensEndpoint(gateway, '/v1/responses/input_tokens', 'openai-responses'),
    countTokensEndpoint(gateway, '/v1/messages/count_tokens', 'anthropic-messages'),
  ]
}

function countTokensEndpoint(gateway: Gateway, path: string, protocol: keyof typeof formats): OwnEndpoint {
  const format: CountFormat = formats[protocol]
  return {
    method: 'POST',
    path,
    summary: 'How many tokens a request would have',
    logged: true,
    needsKey: true,
    async handle({ stage }) {
      const { client } = stage.endpoint
      client.checkHeaders?.(stage.request.headers)
      const body = await readJson(gateway, stage)
      const name = modelIn(body)
      const model = requireModel(stage, name)
      stage.row.requestedModel = name
      const planned = planRoute(model, name, stage.group, protocol)
      const heldId = format.heldId(body)
      const targets =
        heldId === undefined ? planned : await holdersOf(gateway, stage.identity, heldId, planned)
      await takeLimits(gateway, stage, 0)
      const counted = await ask(gateway, stage, targets, format, body)
      if (counted !== undefined) return { body: counted }
      // Whoever was asked, the answer is none of theirs.
      stage.row.asked = null
      const decoded = client.decodeRequest(format.complete(body), { envelope: gateway.envelope })
      return {
        body: format.answer(estimateInputTokens(decoded)),
        headers: { 'x-tollgate-estimated': 'true' },
      }
    },
  }
}

function modelIn(body: Json): string {
  const name = textOf(body.model)
  if (name !== undefined) return name
  throw new GatewayError(
    'invalid_request',
    'model: required: the id of a model, as GET /v1/models lists them',
    { field: 'model' },
  )
}

/** Undefined when no channel can tell. Throws what an upstream has against the request itself. */
async function ask(
  gateway: Gateway,
  stage: Identified,
  targets: readonly Candidate[],
  format: CountFormat,
  body: Json,
): Promise<Json | undefined> {
  const able = targets.filter(({ native }) => native).slice(0, gateway.bounds.attemptsMax)
  if (able.length > 0) await openInJournal(gateway, stage)
  const hasSeals = stage.row.body?.includes(envelopeMark) === true
  const { json, notes } = hasSeals ? withoutForeignReasoning(body) : { json: body, notes: [] }
  for (const target of able) {
    const question = {
      method: 'POST',
      path: format.path,
      body: Buffer.from(JSON.stringify({ ...json, model: target.upstreamModel })),
      headers: forwardedHeaders(gateway, stage),
    } as const
    try {
      const counted = await askUpstream(gateway, stage, target, question, countedIn)
      if (notes.length > 0) noteTranslation(stage, target, notes)
      return counted
    } catch (cause) {
      const { kind } = asGatewayError(cause)
      if (stage.life.clientGone || stage.life.shuttingDown || kind === 'invalid_request') throw cause
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
