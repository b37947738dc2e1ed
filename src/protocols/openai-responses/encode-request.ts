import type { AnswerFormat, ChatRequest } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { Traits } from '../../canonical/traits.ts'
import { encryptedReasoning } from '../added-members.ts'
import { fitRequest } from '../fit-request.ts'
import { fitWebSearch } from '../fit-web-search.ts'
import { keptStop, stopsToKeep } from '../kept-options.ts'
import { Notes, refused } from '../notes.ts'
import { PromptMarks } from '../prompt-marks.ts'
import type { EncodeContext, EncodedRequest } from '../protocol.ts'
import { ToolNames } from '../tool-names.ts'
import { encodeItems } from './encode-items.ts'
import { encodeTools } from './encode-tools.ts'
import { searchSources, searchWords } from './web-search.ts'
import { given, nameRules } from './wire.ts'

/**
 * Encodes a request for `POST /v1/responses`.
 *
 * https://platform.openai.com/docs/api-reference/responses/create, read 2026-11-21
 */
export function encodeRequest(asked: ChatRequest, context: EncodeContext): EncodedRequest {
  // The format has no stop sequences, regardless of what the model supports elsewhere.
  const { stopMax: _, ...traits } = context.traits
  const { upstreamModel } = context
  const notes = new Notes(asked)
  const names = new ToolNames(nameRules)
  refuseImpossible(asked, notes)
  const request = fitRequest(fitWebSearch(asked, traits, notes, searchWords), traits, notes)
  const customTools = traits.customTools !== false
  // Tools are encoded before calls, so that the error for colliding names refers to the tool's definition.
  const tools = encodeTools(request, { notes, names, customTools })
  const marks =
    traits.caching === 'breakpoints' ? new PromptMarks(notes, { upstreamModel, traits }) : undefined
  for (const tool of request.tools) marks?.mark(tool, 'tool')
  const items = encodeItems(request.turns, { notes, marks, names, upstreamModel, customTools })
  // The vendor refuses an empty list, but not an empty user message.
  if (request.turns.length > 0 && items.length === 0) {
    items.push({ type: 'message', role: 'user', content: '' })
  }
  dropUnknown(request, notes)
  const hint = marks === undefined ? firstCacheHint(request) : undefined
  if (hint !== undefined) notes.add('dropped', hint, 'the Responses format caches automatically')
  const reasoning = encodeReasoning(request)

  const body: Json = {
    model: upstreamModel,
    input: items,
    ...tools,
    ...given('max_output_tokens', encodeMaxOutputTokens(request, traits, notes)),
    ...given('temperature', request.temperature),
    ...given('top_p', request.topP),
    ...given('reasoning', reasoning),
    ...given('text', encodeText(request, notes)),
    ...given('safety_identifier', short(request, 'userId', notes)),
    ...given('prompt_cache_key', short(request, 'cacheKey', notes)),
    ...given('service_tier', encodeServiceTier(request, notes)),
    ...given('metadata', encodeMetadata(request, notes)),
    ...(traits.takes?.store === false ? {} : { store: encodeStore(request, notes) }),
    ...given('max_tool_calls', request.webSearch?.maxUses),
    ...given('include', included(request, traits, wantsReasoning(items, reasoning, traits))),
    ...(request.stream ? { stream: true } : {}),
  }
  return { body, notes: notes.list, tools: names }
}

function included(
  { webSearch }: ChatRequest,
  { takes }: Traits,
  wantsReasoning: boolean,
): string[] | undefined {
  if (takes?.include === false) return undefined
  const list = [
    ...(wantsReasoning ? [encryptedReasoning] : []),
    ...(webSearch === undefined ? [] : [searchSources]),
  ]
  return list.length === 0 ? undefined : list
}

/**
 * Models without reasoning refuse this option. The upstream reads the reasoning of earlier answers only if it
 * is set.
 */
function wantsReasoning(items: readonly Json[], reasoning: Json | undefined, { thinking }: Traits): boolean {
  if (thinking === 'none') return false
  const isAsked = reasoning !== undefined && reasoning.effort !== 'none'
  return isAsked || items.some(({ type }) => type === 'reasoning')
}

/**
 * OpenAI refuses lower values. Other servers may accept them, because Open Responses does not specify a
 * minimum.
 */
const openAiTokensMin = 16
const identifierCharactersMax = 64
const metadataPairsMax = 16
const metadataCharactersMax = 512
const serviceTiers = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])

function refuseImpossible(request: ChatRequest, notes: Notes): void {
  if (request.choices > 1) {
    throw refused(
      notes.pathOf('choices'),
      'the Responses format returns only one answer: send several requests',
    )
  }
  if (request.logprobs !== undefined) {
    throw refused(notes.pathOf('logprobs'), 'log probabilities are not translated between formats')
  }
}

function dropUnknown(request: ChatRequest, notes: Notes): void {
  if (request.topK !== undefined) notes.dropField('topK', 'the Responses format has no top_k parameter')
  if (request.seed !== undefined) notes.dropField('seed', 'the Responses format has no seed parameter')
  if (request.frequencyPenalty !== undefined) {
    notes.dropField('frequencyPenalty', 'the Responses format does not support penalties')
  }
  if (request.presencePenalty !== undefined) {
    notes.dropField('presencePenalty', 'the Responses format does not support penalties')
  }
  if (request.logitBias !== undefined)
    notes.dropField('logitBias', 'the Responses format has no logit_bias parameter')
  if (request.stop.length > 0) {
    const isKept = stopsToKeep(request).length > 0
    const reason = isKept
      ? `the Responses format has no stop sequences: ${keptStop}`
      : 'the Responses format has no stop sequences'
    notes.add(isKept ? 'emulated' : 'dropped', notes.pathOf('stop'), reason)
  }
}

/** Adds a single note for all hints, because some clients set one on every message. */
function firstCacheHint(request: ChatRequest): string | undefined {
  for (const tool of request.tools) if (tool.cache !== undefined) return tool.path
  for (const turn of request.turns) {
    for (const block of turn.blocks) {
      if (block.cache !== undefined) return block.path
      const hinted = block.type === 'tool-result' && block.content.find((part) => part.cache !== undefined)
      if (hinted) return hinted.path
    }
  }
  return undefined
}

function encodeMaxOutputTokens(
  { maxOutputTokens }: ChatRequest,
  { outputTokensMin = openAiTokensMin }: Traits,
  notes: Notes,
): number | undefined {
  if (maxOutputTokens === undefined || maxOutputTokens >= outputTokensMin) return maxOutputTokens
  const path = notes.pathOf('maxOutputTokens')
  notes.add('clamped', path, `raised to the minimum of ${outputTokensMin}`)
  return outputTokensMin
}

function encodeReasoning({ reasoning }: ChatRequest): Json | undefined {
  if (reasoning === undefined) return undefined
  const { effort } = reasoning
  const summary =
    reasoning.summary === 'none' || effort === 'none' ? undefined : (reasoning.summary ?? 'auto')
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
  if (name === undefined)
    notes.add('defaulted', notes.pathOf('format'), 'the schema requires a name: set to "answer"')
  return {
    type: 'json_schema',
    name: name ?? 'answer',
    ...given('description', description),
    schema,
    ...given('strict', strict),
  }
}

/**
 * OpenAI refuses longer identifiers. Those are more than an opaque name and contain, for example, ids of
 * devices and sessions.
 */
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
  notes.dropField('serviceTier', 'the Responses format does not support this tier')
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
  notes.add(
    'defaulted',
    notes.pathOf('store'),
    'set to false: the Responses format would store the answer by default',
  )
  return false
}
