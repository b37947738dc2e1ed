import { z } from 'zod'
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
import { keyEndpoint, type OwnEndpoint } from './own-endpoint.ts'

const modelRequired = 'required: the id of a model, as GET /v1/models lists them'

/** We read only these members. The channel that counts checks the others, or our decoder where we estimate. */
const countedRequest = z.looseObject({
  model: z
    .string({ error: modelRequired })
    .min(1, { error: modelRequired })
    .describe('A model, as `GET /v1/models` lists them.'),
})

const responsesRequest = countedRequest
  .extend({ previous_response_id: z.string().nullish().describe('An earlier answer that counts too.') })
  .meta({ id: 'ResponsesTokensRequest' })

const messagesRequest = countedRequest.meta({ id: 'MessagesTokensRequest' })

const tokenCount = z
  .looseObject({ input_tokens: z.int().describe('Tokens that the request would have.') })
  .meta({ id: 'TokenCount' })

/** How a format counts the tokens of a request before it is sent. */
interface CountFormat {
  body: z.ZodType<z.output<typeof countedRequest>>
  /** Below the channel's base URL. */
  path: string
  /** An answer in the format. */
  answer(tokens: number): z.output<typeof tokenCount>
  /** Adds the members that a whole request must have and a count does not need. */
  complete(body: Json): Json
  /** The id of an earlier answer whose tokens count too. Throws `unsupported_parameter`. */
  heldId(body: Json): string | undefined
}

const formats = {
  'anthropic-messages': {
    body: messagesRequest,
    path: '/v1/messages/count_tokens',
    answer: (tokens) => ({ input_tokens: tokens }),
    complete: (body) => ({ max_tokens: 1, ...body }),
    heldId: () => undefined,
  },
  'openai-responses': {
    body: responsesRequest,
    path: '/responses/input_tokens',
    answer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    complete: (body) => body,
    heldId: heldAnswer,
  },
} as const satisfies Record<string, CountFormat>

/**
 * How many tokens a request would have. A channel that speaks the format counts them. Where none does, we estimate, and
 * the header `x-tollgate-estimated: true` says so.
 */
export function countTokensEndpoints(gateway: Gateway): OwnEndpoint[] {
  return [
    countTokensEndpoint(gateway, '/v1/responses/input_tokens', 'openai-responses'),
    countTokensEndpoint(gateway, '/v1/messages/count_tokens', 'anthropic-messages'),
  ]
}

function countTokensEndpoint(gateway: Gateway, path: string, protocol: keyof typeof formats): OwnEndpoint {
  const format: CountFormat = formats[protocol]
  return keyEndpoint({
    method: 'POST',
    path,
    summary: 'How many tokens a request would have',
    description:
      'A channel that speaks the format counts them. Where none does, the answer is an estimate, and the header `x-tollgate-estimated: true` says so.',
    logged: true,
    limited: true,
    body: format.body,
    answer: tokenCount,
    async handle({ stage, body }) {
      const { client } = stage.endpoint
      client.checkHeaders?.(stage.request.headers)
      const model = requireModel(stage, body.model)
      stage.row.requestedModel = body.model
      const planned = planRoute(model, body.model, stage.group, protocol)
      const heldId = format.heldId(body)
      const targets =
        heldId === undefined ? planned : await holdersOf(gateway, stage.identity, heldId, planned)
      const counted = await ask(gateway, stage, targets, format, body)
      if (counted !== undefined) return { body: counted }
      // No upstream counted them: the row names none.
      stage.row.asked = null
      const decoded = client.decodeRequest(format.complete(body), { envelope: gateway.envelope })
      return {
        body: format.answer(estimateInputTokens(decoded)),
        headers: { 'x-tollgate-estimated': 'true' },
      }
    },
  })
}

/** Undefined when no channel can count. Throws an upstream's refusal of the request itself. */
async function ask(
  gateway: Gateway,
  stage: Identified,
  targets: readonly Candidate[],
  format: CountFormat,
  body: Json,
): Promise<z.output<typeof tokenCount> | undefined> {
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

function countedIn(body: Buffer): z.output<typeof tokenCount> {
  const counted = tokenCount.safeParse(parseObject(body.toString('utf8')))
  if (counted.success) return counted.data
  throw new GatewayError('upstream_error', 'The upstream answered without a number of tokens.')
}

function heldAnswer({ conversation, previous_response_id: id }: Json): string | undefined {
  if (conversation !== undefined && conversation !== null) throw conversationRefused()
  return textOf(id)
}
