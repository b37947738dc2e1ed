import { z } from 'zod'
import type { CountedBody } from '../bodies/count-body.ts'
import { estimateInputTokens } from '../bodies/estimate.ts'
import { withoutForeignReasoning } from '../bodies/foreign-reasoning.ts'
import { noNames } from '../bodies/names.ts'
import { modelOrNull } from '../bodies/refused-body.ts'
import { vendorStateOf } from '../bodies/vendor-state.ts'
import { errorFrom } from '../bodies/wire-error.ts'
import type { TranslationNote } from '../canonical/chat.ts'
import { gatewayError } from '../canonical/error.ts'
import { type Json, parseObject, textOf } from '../canonical/json.ts'
import { mayNameState } from '../catalog/shared-state.ts'
import { askUpstream, type SmallCall } from '../pipeline/ask-upstream.ts'
import { asGatewayError } from '../pipeline/ending.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import type { Identified } from '../pipeline/identify.ts'
import { inThread } from '../pipeline/in-thread.ts'
import { holdersOf } from '../pipeline/kept/holders.ts'
import { keptTurns } from '../pipeline/kept/kept-turns.ts'
import { openInJournal } from '../pipeline/open-record.ts'
import { forwardedHeaders } from '../pipeline/prepare.ts'
import { requireModel } from '../pipeline/read.ts'
import { keptApart } from '../pipeline/refusals-that-help.ts'
import { noteTranslation } from '../pipeline/translation/note-translation.ts'
import { conversationIn } from '../protocols/conversation.ts'
import { conversationState } from '../protocols/index.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { pieces } from '../protocols/splice.ts'
import { type Candidate, planRoute } from '../routing/candidates.ts'
import { refuseFiles } from '../state/files/refuse-files.ts'
import { itemsOf, type KeptTurn, keptDaysOf, keptScopeOf } from '../state/kept/kept-answers.ts'
import { type ClientEndpoint, keyEndpoint } from './endpoint.ts'
import { modelMember } from './model-member.ts'

/**
 * Only these members are read here. The others are checked by the channel that counts, or by our decoder for
 * an estimate.
 */
const countedRequest = z.looseObject({
  model: modelMember.describe('The id of a model, as listed by `GET /v1/models`.'),
})

const responsesRequest = countedRequest
  .extend({
    previous_response_id: z
      .string()
      .nullish()
      .describe('The id of an earlier answer whose tokens are included in the count.'),
    conversation: z
      .union([z.string(), z.looseObject({ id: z.string() })])
      .nullish()
      .describe('A conversation whose items are included in the count.'),
  })
  .meta({ id: 'ResponsesTokensRequest' })

const messagesRequest = countedRequest.meta({ id: 'MessagesTokensRequest' })

const tokenCount = z
  .looseObject({ input_tokens: z.int().describe('The number of input tokens that the request would have.') })
  .meta({ id: 'TokenCount' })

/** How a format counts the tokens of a request before it is sent. */
interface CountFormat {
  body: typeof countedRequest
  /** Relative to the channel's base URL. */
  path: string
  /** Returns a response in the format. */
  answer(tokens: number): z.output<typeof tokenCount>
  /** Members that a complete request must have but a count does not need. */
  complete: Json
  /** The id of an earlier answer whose tokens are included. Throws `unsupported_parameter`. */
  heldId(body: Json): string | undefined
  /** The id of the conversation in which the request runs. */
  runsIn(body: Json): string | undefined
}

const formats = {
  'anthropic-messages': {
    body: messagesRequest,
    path: '/v1/messages/count_tokens',
    answer: (tokens) => ({ input_tokens: tokens }),
    complete: { max_tokens: 1 },
    heldId: () => undefined,
    runsIn: () => undefined,
  },
  'openai-responses': {
    body: responsesRequest,
    path: '/responses/input_tokens',
    answer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    complete: {},
    heldId: (body) => textOf(body.previous_response_id),
    runsIn: (body) => conversationIn(body.conversation, textOf(body.previous_response_id)),
  },
} as const satisfies Record<string, CountFormat>

/**
 * Counts the tokens that a request would have. A channel that speaks the format counts them. If there is
 * none, we estimate and set the header `x-tollgate-estimated: true`.
 */
export function countTokensEndpoints(gateway: Gateway): ClientEndpoint[] {
  return [
    countTokensEndpoint(gateway, '/v1/responses/input_tokens', 'openai-responses'),
    countTokensEndpoint(gateway, '/v1/messages/count_tokens', 'anthropic-messages'),
  ]
}

function countTokensEndpoint(gateway: Gateway, path: string, protocol: keyof typeof formats): ClientEndpoint {
  const format: CountFormat = formats[protocol]
  return keyEndpoint({
    method: 'POST',
    path,
    summary: 'Count the tokens of a request',
    description:
      'The tokens are counted by a channel that speaks the format. If there is none, the response is an estimate and has the header `x-tollgate-estimated: true`.',
    logged: true,
    limited: true,
    body: format.body,
    readLarge: (stage, bytes) => readLarge(gateway, stage, format, { bytes, client: protocol }),
    answer: tokenCount,
    async handle({ stage, body: asked }) {
      const { client } = stage.endpoint
      client.checkHeaders?.(stage.exchange.headers)
      stage.row.requestedModel = asked.model
      const model = requireModel(stage, asked.model)
      refuseFiles(asked, protocol, 'when tokens are counted')
      const planned = planRoute(model, asked.model, stage.group, protocol)
      const continued = format.heldId(asked)
      const large = largeBodies.get(stage)
      const runsIn = format.runsIn(asked)
      const turns =
        runsIn !== undefined
          ? await conversationTurns(gateway, stage, runsIn, large !== undefined)
          : continued === undefined || large !== undefined
            ? undefined
            : await keptTurns(gateway, stage.identity, protocol, continued)
      const body = turns === undefined ? asked : withTurns(asked, turns)
      const heldId = turns === undefined ? continued : undefined
      const targets =
        heldId === undefined
          ? planned
          : await holdersOf(
              gateway,
              stage,
              heldId,
              { model, name: asked.model, candidates: planned },
              protocol,
            )
      const apart = targets.filter(
        ({ channel, native }) => native && !mayNameState(stage.snapshot, channel, stage.identity.tenantId),
      )
      const state = apart.length === 0 ? undefined : large ? large.counted.vendorState : vendorStateOf(body)
      const allowed = state === undefined ? targets : targets.filter((target) => !apart.includes(target))
      if (state !== undefined && allowed.length === 0) throw keptApart(state)
      const counted = await ask(gateway, stage, allowed, format, body)
      if (counted !== undefined) return { body: counted }
      // No upstream counted the tokens, so the row does not name one.
      stage.row.asked = null
      const tokens =
        large === undefined
          ? estimateInputTokens(
              client.decodeRequest({ ...format.complete, ...body }, { envelope: gateway.envelope }),
            )
          : estimateOf(large.counted)
      return {
        body: format.answer(tokens),
        headers: { 'x-tollgate-estimated': 'true' },
      }
    },
  })
}

/** Returns the request with the turns that it continues. */
function withTurns<Body extends Json>(body: Body, turns: readonly KeptTurn[]): Body {
  const history = turns.flatMap(({ input, output }) => [...itemsOf(input), ...itemsOf(output)])
  const own = Array.isArray(body.input) ? body.input : [{ role: 'user', content: body.input ?? '' }]
  return { ...body, previous_response_id: null, conversation: null, input: [...history, ...own] }
}

/** Returns undefined if no channel can count. Throws if an upstream refuses the request itself. */
async function ask(
  gateway: Gateway,
  stage: Identified,
  targets: readonly Candidate[],
  format: CountFormat,
  body: Json,
): Promise<z.output<typeof tokenCount> | undefined> {
  const able = targets.filter(({ native }) => native).slice(0, gateway.bounds.attemptsMax)
  if (able.length > 0) await openInJournal(gateway, stage)
  const { bodyFor, notes } = questionOf(gateway, stage, body)
  for (const target of able) {
    const call = {
      method: 'POST',
      path: format.path,
      body: bodyFor(target.upstreamModel),
      headers: forwardedHeaders(gateway, stage),
    } as const
    try {
      const counted = await askUpstream(gateway, stage, target, call, countedIn)
      if (notes.length > 0) noteTranslation(stage, target, notes)
      return counted
    } catch (cause) {
      const { kind, upstreamStatus } = asGatewayError(cause)
      // Whatever the error message is, a 404 means that the upstream cannot count.
      const isRefused = kind === 'invalid_request' && upstreamStatus !== 404
      if (stage.life.clientGone || stage.life.shuttingDown || isRefused) throw cause
    }
  }
  return undefined
}

interface CountQuestion {
  bodyFor(upstreamModel: string): SmallCall['body']
  notes: readonly TranslationNote[]
}

/**
 * Prepares the call to a channel: the client's body, with the channel's model and without the reasoning of
 * other channels.
 */
function questionOf(gateway: Gateway, stage: Identified, body: Json): CountQuestion {
  const large = largeBodies.get(stage)
  if (large === undefined) {
    const { json, notes } = withoutForeignReasoning(body, gateway.envelope)
    return { bodyFor: (model) => Buffer.from(JSON.stringify({ ...json, model })), notes }
  }
  const { bytes, counted } = large
  const { own } = counted
  const raw =
    own === undefined ? bytes : Buffer.from(own.bytes.buffer, own.bytes.byteOffset, own.bytes.length)
  const span = own === undefined ? counted.model : own.model
  const pace = (size: number) => gateway.turns.take(stage.identity.keyId, size)
  const bodyFor = (model: string) => {
    const edits = span === undefined ? [] : [{ ...span, bytes: Buffer.from(JSON.stringify(model)) }]
    return { pieces: pieces(raw, edits), pace }
  }
  return { bodyFor, notes: own?.notes ?? [] }
}

/** The results of the threads that read the large bodies of running requests. */
const largeBodies = new WeakMap<Identified, { bytes: Buffer; counted: CountedBody }>()

async function readLarge(
  gateway: Gateway,
  stage: Identified,
  { complete, body }: CountFormat,
  { bytes, client }: { bytes: Buffer; client: ProtocolName },
): Promise<Json> {
  const { identity, token, row } = stage
  gateway.bodyThreads.requireRoom(identity.keyId)
  const names = Object.keys(body.shape)
  const input = { bytes, client, complete, names, capture: identity.capture, token }
  const { captured, counted } = await inThread(gateway, stage, { name: 'count', input })
  row.read = { captured: captured === null ? null : Buffer.from(captured), names: noNames }
  row.requestedModel = modelOrNull('refused' in counted ? counted.model : counted.members.model)
  if ('refused' in counted) throw errorFrom(counted.refused)
  largeBodies.set(stage, { bytes, counted })
  return counted.members
}

function estimateOf({ estimate }: CountedBody): number {
  if ('refused' in estimate) throw errorFrom(estimate.refused)
  return estimate.tokens
}

function countedIn(body: Buffer): z.output<typeof tokenCount> {
  const counted = tokenCount.safeParse(parseObject(body.toString('utf8')))
  if (counted.success) return counted.data
  throw gatewayError('upstream_count_missing')
}

/** Returns the items of a conversation as one turn. Rejects as `continueConversation` does. */
async function conversationTurns(
  gateway: Gateway,
  { identity, group }: Identified,
  id: string,
  isLarge: boolean,
): Promise<KeptTurn[]> {
  if (keptDaysOf(identity, group) === 0) throw conversationState().conversations.refused()
  if (isLarge) {
    throw gatewayError('count_with_conversation_too_large', {}, { field: 'conversation' })
  }
  const { text } = await gateway.kept.conversations.read(keptScopeOf(identity, 'openai-responses'), id)
  return [{ input: text, output: '', answer: {} }]
}
