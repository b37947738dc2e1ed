import type { ChatRequest } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { Notes, refused } from '../notes.ts'
import type { EncodeContext, EncodedRequest } from '../protocol.ts'
import { ToolNames } from '../tool-names.ts'
import { CacheMarks } from './cache-marks.ts'
import { encodeThinking } from './encode-thinking.ts'
import { encodeTools } from './encode-tools.ts'
import { encodeTurns } from './encode-turns.ts'
import { toolNameRules } from './wire.ts'

/**
 * Encode a request for an upstream of this format, version 2023-06-01. Throws GatewayError `unsupported_parameter` for
 * a member that it may not drop, and `invalid_request` for tools whose names collide.
 */
export function encodeRequest(request: ChatRequest, context: EncodeContext): EncodedRequest {
  const notes = new Notes(request)
  const tools = new ToolNames(toolNameRules)
  const marks = new CacheMarks(notes)
  const encodedTools = encodeTools(request, { notes, tools, marks })
  const turns = encodeTurns(request, { notes, tools, marks, upstreamModel: context.upstreamModel })
  const maxTokens = encodeMaxTokens(request, context, notes)
  const { thinking, isThinking } = encodeThinking(request, turns, maxTokens, notes)
  const output = encodeFormat(request, turns.system, notes)
  encodeLosses(request, notes)

  const body: Json = {
    model: context.upstreamModel,
    max_tokens: maxTokens,
    ...(turns.system.length === 0 ? {} : { system: turns.system }),
    messages: turns.messages,
    ...encodedTools,
    ...(thinking === undefined ? {} : { thinking }),
    ...(output === undefined ? {} : { output_config: { format: output } }),
    ...encodeSampling(request, isThinking, notes),
    ...encodeStop(request, notes),
    ...encodeUser(request, notes),
    ...encodeServiceTier(request, notes),
    ...(request.stream ? { stream: true } : {}),
  }
  return { body, notes: notes.list, tools }
}

function encodeMaxTokens(request: ChatRequest, context: EncodeContext, notes: Notes): number {
  const path = notes.pathOf('maxOutputTokens')
  const asked = request.maxOutputTokens
  if (asked === undefined) {
    const tokens = context.maxOutputTokensDefault
    notes.add('defaulted', path, `the Messages format demands a bound: ${tokens} tokens`)
    return tokens
  }
  if (asked >= 1) return asked
  notes.add('clamped', path, 'the Messages format answers with at least 1 token')
  return 1
}

function encodeFormat({ format }: ChatRequest, system: Json[], notes: Notes): Json | undefined {
  if (format === undefined) return undefined
  const path = notes.pathOf('format')
  if (format.type === 'json_object') {
    system.push({ type: 'text', text: jsonInstruction })
    notes.add('emulated', path, 'the Messages format has no plain JSON mode: an instruction asks for it')
    return undefined
  }
  const { name, description, schema, strict } = format
  if (name !== undefined || strict === false) {
    notes.add(
      'mapped',
      path,
      'the Messages format has only the schema, without a name, and always holds to it',
    )
  }
  const isDescribed = description === undefined || 'description' in schema
  return { type: 'json_schema', schema: isDescribed ? schema : { ...schema, description } }
}

const jsonInstruction =
  'Answer with one JSON object and nothing else: no words before or behind it, no code fence.'

function encodeSampling(request: ChatRequest, isThinking: boolean, notes: Notes): Json {
  const { temperature, topP, topK } = request
  const sampling: Json = {}
  if (temperature !== undefined) {
    const path = notes.pathOf('temperature')
    if (isThinking) {
      if (temperature !== 1) notes.dropField('temperature', 'the Messages format has none while it thinks')
    } else if (temperature > 1) {
      notes.add('clamped', path, 'the Messages format goes up to 1')
      sampling.temperature = 1
    } else sampling.temperature = temperature
  }
  if (topP !== undefined) {
    if (temperature !== undefined && topP !== 1) {
      notes.dropField('topP', 'models of the Messages format take temperature or top_p, not both')
    } else if (isThinking && topP < thinkingTopPMin) {
      notes.dropField('topP', `the Messages format has none below ${thinkingTopPMin} while it thinks`)
    } else if (topP !== 1 || temperature === undefined) sampling.top_p = topP
  }
  if (topK !== undefined) {
    if (isThinking) notes.dropField('topK', 'the Messages format has none while it thinks')
    else sampling.top_k = topK
  }
  return sampling
}

/** https://platform.claude.com/docs/en/build-with-claude/extended-thinking, read 2026-11-21 */
const thinkingTopPMin = 0.95

function encodeStop({ stop }: ChatRequest, notes: Notes): Json {
  const sequences = stop.filter((sequence) => sequence.trim() !== '')
  if (sequences.length < stop.length) {
    notes.dropField('stop', 'the Messages format refuses stop sequences with only white space')
  }
  return sequences.length === 0 ? {} : { stop_sequences: sequences }
}

function encodeUser({ userId }: ChatRequest, notes: Notes): Json {
  if (userId === undefined || userId === '') return {}
  if (userId.length > userIdCharactersMax) {
    notes.dropField('userId', `the Messages format takes at most ${userIdCharactersMax} characters`)
    return {}
  }
  return { metadata: { user_id: userId } }
}

const userIdCharactersMax = 256

function encodeServiceTier({ serviceTier }: ChatRequest, notes: Notes): Json {
  if (serviceTier === undefined) return {}
  if (serviceTier === 'auto') return { service_tier: 'auto' }
  if (serviceTier === 'default') return { service_tier: 'standard_only' }
  notes.dropField('serviceTier', `the Messages format has no tier "${serviceTier.slice(0, 40)}"`)
  return {}
}

/** Drop or refuse the members that the format lacks. */
function encodeLosses(request: ChatRequest, notes: Notes): void {
  if (request.choices > 1) {
    throw refused(notes.pathOf('choices'), 'the Messages format gives one answer: send several requests')
  }
  if (request.logprobs !== undefined) {
    throw refused(notes.pathOf('logprobs'), 'the Messages format gives no log probabilities')
  }
  if (request.seed !== undefined) notes.dropField('seed', 'the Messages format has no seed')
  for (const penalty of ['frequencyPenalty', 'presencePenalty'] as const) {
    if (request[penalty]) notes.dropField(penalty, 'the Messages format has no penalties')
  }
  if (request.logitBias !== undefined && Object.keys(request.logitBias).length > 0) {
    notes.dropField('logitBias', 'the Messages format cannot bias tokens')
  }
  if (request.verbosity !== undefined) notes.dropField('verbosity', 'the Messages format has no verbosity')
  if (request.metadata !== undefined && Object.keys(request.metadata).length > 0) {
    notes.dropField('metadata', 'the Messages format has no labels')
  }
  if (request.store === true) notes.dropField('store', 'the Messages format keeps no answers')
  if (request.cacheKey !== undefined) notes.dropField('cacheKey', 'the Messages format has no cache keys')
}
