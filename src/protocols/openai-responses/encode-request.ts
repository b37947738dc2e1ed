import type { AnswerFormat, ChatRequest, ReasoningEffort } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { stopsToKeep } from '../kept-wishes.ts'
import { Notes, refused } from '../notes.ts'
import type { EncodeContext, EncodedRequest } from '../protocol.ts'
import { ToolNames } from '../tool-names.ts'
import { ItemEncoder } from './encode-items.ts'
import { encodeTools } from './encode-tools.ts'
import { encryptedReasoning, given, nameRules } from './wire.ts'

/**
 * Encode a request for `POST /v1/responses`.
 *
 * https://platform.openai.com/docs/api-reference/responses/create, read 2026-11-21
 */
export function encodeRequest(request: ChatRequest, context: EncodeContext): EncodedRequest {
  const notes = new Notes(request)
  const names = new ToolNames(nameRules)
  refuseImpossible(request, notes)
  // Tools come before calls: of two colliding names, the error names the tool's definition.
  const tools = encodeTools(request, notes, names)
  const items = new ItemEncoder(notes, names, context.upstreamModel)
  for (const turn of request.turns) items.add(turn)
  // The vendor refuses an empty list, but not an empty user message.
  if (request.turns.length > 0 && items.items.length === 0)
    items.items.push({ type: 'message', role: 'user', content: '' })
  dropUnknown(request, notes)
  const reasoning = encodeReasoning(request, notes)
  const wantsReasoning = items.hasReasoning || (reasoning !== undefined && reasoning.effort !== 'none')

  const body: Json = {
    model: context.upstreamModel,
    input: items.items,
    ...tools,
    ...given('max_output_tokens', encodeMaxOutputTokens(request, notes)),
    ...given('temperature', request.temperature),
    ...given('top_p', request.topP),
    ...given('reasoning', reasoning),
    ...given('text', encodeText(request, notes)),
    ...given('safety_identifier', short(request, 'userId', notes)),
    ...given('prompt_cache_key', short(request, 'cacheKey', notes)),
    ...given('service_tier', encodeServiceTier(request, notes)),
    ...given('metadata', encodeMetadata(request, notes)),
    store: encodeStore(request, notes),
    // Models without reasoning refuse this wish.
    ...(wantsReasoning ? { include: [encryptedReasoning] } : {}),
    ...(request.stream ? { stream: true } : {}),
  }
  return { body, notes: notes.list, tools: names }
}

const outputTokensMin = 16
const identifierCharactersMax = 64
const metadataPairsMax = 16
const metadataCharactersMax = 512
const serviceTiers = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])
/** Smallest budget for each effort, the largest first. */
const effortOfBudget: readonly (readonly [number, ReasoningEffort])[] = [
  [16_384, 'high'],
  [4096, 'medium'],
  [1, 'low'],
]

function refuseImpossible(request: ChatRequest, notes: Notes): void {
  if (request.choices > 1) {
    throw refused(notes.pathOf('choices'), 'the Responses format gives one answer: send several requests')
  }
  if (request.logprobs !== undefined) {
    throw refused(notes.pathOf('logprobs'), 'log probabilities are not translated between formats')
  }
}

function dropUnknown(request: ChatRequest, notes: Notes): void {
  if (request.topK !== undefined) notes.dropField('topK', 'the Responses format has no top_k')
  if (request.seed !== undefined) notes.dropField('seed', 'the Responses format has no seed')
  if (request.frequencyPenalty !== undefined) {
    notes.dropField('frequencyPenalty', 'the Responses format has no penalties')
  }
  if (request.presencePenalty !== undefined) {
    notes.dropField('presencePenalty', 'the Responses format has no penalties')
  }
  if (request.logitBias !== undefined) notes.dropField('logitBias', 'the Responses format has no logit_bias')
  if (request.stop.length > 0) {
    const isKept = stopsToKeep(request).length > 0
    const reason = isKept
      ? 'the Responses format has none: the gateway ends the text there, and what the model writes until its own end is paid'
      : 'the Responses format has no stop sequences'
    notes.add(isKept ? 'emulated' : 'dropped', notes.pathOf('stop'), reason)
  }
  const hint = firstCacheHint(request)
  if (hint !== undefined) notes.add('dropped', hint, 'the Responses format caches by itself')
}

/** One note for all hints, because some clients set one on every message. */
function firstCacheHint(request: ChatRequest): string | undefined {
  for (const tool of request.tools) if (tool.cache !== undefined) return tool.path
  for (const turn of request.turns) {
    for (const block of turn.blocks) if (block.cache !== undefined) return block.path
  }
  return undefined
}

function encodeMaxOutputTokens(request: ChatRequest, notes: Notes): number | undefined {
  const { maxOutputTokens } = request
  if (maxOutputTokens === undefined || maxOutputTokens >= outputTokensMin) return maxOutputTokens
  notes.add(
    'clamped',
    notes.pathOf('maxOutputTokens'),
    `raised to ${outputTokensMin}, the least that is allowed`,
  )
  return outputTokensMin
}

function encodeReasoning(request: ChatRequest, notes: Notes): Json | undefined {
  const wish = request.reasoning
  if (wish === undefined) return undefined
  let { effort } = wish
  const { budgetTokens } = wish
  if (effort === undefined && budgetTokens !== undefined) {
    effort = effortOfBudget.find(([least]) => budgetTokens >= least)?.[1] ?? 'none'
    notes.add(
      'mapped',
      notes.pathOf('reasoning'),
      `the Responses format has no budget of tokens: the effort is ${effort}`,
    )
  }
  const summary = wish.summary === 'none' || effort === 'none' ? undefined : (wish.summary ?? 'auto')
  return { ...given('effort', effort), ...given('summary', summary) }
}

function encodeText(request: ChatRequest, notes: Notes): Json | undefined {
  const { format, verbosity } = request
  if (format === undefined && verbosity === undefined) return undefined
  return {
    ...(format === undefined ? {} : { format: encodeFormat(format, notes) }),
    ...given('verbosity', verbosity),
  }
}

function encodeFormat(format: AnswerFormat, notes: Notes): Json {
  if (format.type === 'json_object') return { type: 'json_object' }
  const { name, description, schema, strict } = format
  if (name === undefined) notes.add('defaulted', notes.pathOf('format'), 'the schema needs a name: "answer"')
  return {
    type: 'json_schema',
    name: name ?? 'answer',
    ...given('description', description),
    schema,
    ...given('strict', strict),
  }
}

/** OpenAI refuses longer identifiers. They are more than an opaque name, such as ids of devices and sessions. */
function short(request: ChatRequest, field: 'userId' | 'cacheKey', notes: Notes): string | undefined {
  const value = request[field]
  if (value === undefined || value.length <= identifierCharactersMax) return value
  notes.dropField(field, `longer than ${identifierCharactersMax} characters`)
  return undefined
}

function encodeServiceTier(request: ChatRequest, notes: Notes): string | undefined {
  const { serviceTier } = request
  if (serviceTier === undefined || serviceTiers.has(serviceTier)) return serviceTier
  if (serviceTier === 'standard_only') return 'default'
  notes.dropField('serviceTier', 'the Responses format has no such tier')
  return undefined
}

function encodeMetadata(request: ChatRequest, notes: Notes): Json | undefined {
  const { metadata } = request
  if (metadata === undefined) return undefined
  const values = Object.values(metadata)
  const fits = values.every((value) => typeof value === 'string' && value.length <= metadataCharactersMax)
  if (fits && values.length <= metadataPairsMax) return metadata
  notes.dropField('metadata', `more than ${metadataPairsMax} pairs, or values that are not short strings`)
  return undefined
}

function encodeStore(request: ChatRequest, notes: Notes): boolean {
  if (request.store !== undefined) return request.store
  notes.add('defaulted', notes.pathOf('store'), 'false: the Responses format would store the answer')
  return false
}
