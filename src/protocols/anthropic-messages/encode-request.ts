import type { ChatRequest } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { Traits } from '../../canonical/traits.ts'
import { fitImageTypes } from '../fit-image-types.ts'
import { fitWebSearch } from '../fit-web-search.ts'
import { type KeptOptions, keptStop, optionsToKeep, stopsToKeep } from '../kept-options.ts'
import { Notes, refused } from '../notes.ts'
import type { EncodeContext, EncodedRequest } from '../protocol.ts'
import { ToolNames } from '../tool-names.ts'
import { CacheMarks } from './cache-marks.ts'
import { encodeFormat } from './encode-format.ts'
import { encodeSampling } from './encode-sampling.ts'
import { encodeThinking } from './encode-thinking.ts'
import { encodeTools } from './encode-tools.ts'
import { encodeTurns } from './encode-turns.ts'
import { searchWords } from './web-search.ts'
import { toolNameRules } from './wire.ts'

/**
 * Encodes a request for an upstream of this format, version 2023-06-01. Throws GatewayError
 * `unsupported_parameter` for a member that must not be dropped, and `invalid_request` for colliding tool
 * names.
 */
export function encodeRequest(asked: ChatRequest, context: EncodeContext): EncodedRequest {
  const notes = new Notes(asked)
  const request = fitWebSearch(asked, context.traits, notes, searchWords(asked))
  const tools = new ToolNames(toolNameRules)
  const marks = new CacheMarks(notes, context)
  const parts = { notes, tools, marks, upstreamModel: context.upstreamModel, traits: context.traits }
  const encodedTools = encodeTools(request, parts)
  const turns = encodeTurns({ ...request, ...fitImageTypes(request, notes) }, parts)
  const maxTokens = encodeMaxTokens(request, context, notes)
  const { thinking, effort, isThinking } = encodeThinking(request, turns, maxTokens, context, notes)
  const format = encodeFormat(request, context, turns.system, notes)
  const output: Json = { ...(effort === undefined ? {} : { effort }), ...(format && { format }) }
  encodeLosses(request, notes)

  const body: Json = {
    model: context.upstreamModel,
    max_tokens: maxTokens,
    ...(turns.system.length === 0 ? {} : { system: turns.system }),
    messages: turns.messages,
    ...encodedTools,
    ...(thinking === undefined ? {} : { thinking }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
    ...encodeSampling(request, context, isThinking, notes),
    ...encodeStop(request, context, notes),
    ...encodeUser(request, context, notes),
    ...encodeServiceTier(request, context, notes),
    ...(request.stream ? { stream: true } : {}),
  }
  return { body, notes: notes.list, tools }
}

function encodeMaxTokens(request: ChatRequest, context: EncodeContext, notes: Notes): number {
  const path = notes.pathOf('maxOutputTokens')
  const asked = request.maxOutputTokens
  if (asked === undefined) {
    const tokens = context.maxOutputTokensDefault
    notes.add('defaulted', path, `the Messages format requires a limit: set to ${tokens} tokens`)
    return tokens
  }
  const most = context.traits.maxOutputTokens ?? Number.POSITIVE_INFINITY
  if (asked > most) {
    notes.add('clamped', path, `the model ${context.upstreamModel} supports at most ${most} output tokens`)
    return most
  }
  if (asked >= 1) return asked
  notes.add('clamped', path, 'the Messages format requires a limit of at least 1 token')
  return 1
}

function encodeStop(request: ChatRequest, { traits, upstreamModel }: EncodeContext, notes: Notes): Json {
  const unsaid = unsaidStops(request, traits)
  const sequences = request.stop.filter((sequence) => !unsaid.includes(sequence))
  if (unsaid.length > 0) {
    const who =
      traits.stopMax === 0
        ? `the model ${upstreamModel} does not support stop sequences`
        : 'the Messages format refuses blank stop sequences'
    if (stopsToKeep({ stop: unsaid }).length === 0) notes.dropField('stop', who)
    else notes.add('emulated', notes.pathOf('stop'), `${who}: ${keptStop}`)
  }
  if (sequences.length > (traits.stopMax ?? sequences.length)) {
    const most = `the model ${upstreamModel} supports at most ${traits.stopMax} stop sequences`
    throw refused(notes.pathOf('stop'), most)
  }
  return sequences.length === 0 ? {} : { stop_sequences: sequences }
}

/** The options that the request itself cannot express. */
export function keeps(request: ChatRequest, traits: Traits): KeptOptions | undefined {
  return optionsToKeep({ ...request, stop: unsaidStops(request, traits) }, { ...traits, stopMax: 0 })
}

/** The format refuses stop sequences of white space only, and some models refuse all stop sequences. */
function unsaidStops({ stop }: ChatRequest, { stopMax }: Traits): readonly string[] {
  return stopMax === 0 ? stop : stop.filter((sequence) => sequence.trim() === '')
}

function encodeUser({ userId }: ChatRequest, { traits, upstreamModel }: EncodeContext, notes: Notes): Json {
  if (userId === undefined || userId === '') return {}
  if (traits.takes?.userId === false) {
    notes.dropField('userId', `the model ${upstreamModel} does not support it`)
    return {}
  }
  if (userId.length > userIdCharactersMax) {
    notes.dropField('userId', `the Messages format allows at most ${userIdCharactersMax} characters`)
    return {}
  }
  return { metadata: { user_id: userId } }
}

const userIdCharactersMax = 256

function encodeServiceTier(
  { serviceTier }: ChatRequest,
  { traits, upstreamModel }: EncodeContext,
  notes: Notes,
): Json {
  if (serviceTier === undefined) return {}
  if (traits.takes?.serviceTier === false) {
    notes.dropField('serviceTier', `the model ${upstreamModel} does not support it`)
    return {}
  }
  if (serviceTier === 'auto') return { service_tier: 'auto' }
  if (serviceTier === 'default') return { service_tier: 'standard_only' }
  notes.dropField('serviceTier', `the Messages format has no tier "${serviceTier.slice(0, 40)}"`)
  return {}
}

/** Drops or refuses members that the format does not support. */
function encodeLosses(request: ChatRequest, notes: Notes): void {
  if (request.choices > 1) {
    throw refused(
      notes.pathOf('choices'),
      'the Messages format returns only one answer: send several requests',
    )
  }
  if (request.logprobs !== undefined) {
    throw refused(notes.pathOf('logprobs'), 'the Messages format does not return log probabilities')
  }
  if (request.seed !== undefined) notes.dropField('seed', 'the Messages format has no seed parameter')
  for (const penalty of ['frequencyPenalty', 'presencePenalty'] as const) {
    if (request[penalty]) notes.dropField(penalty, 'the Messages format does not support penalties')
  }
  if (request.logitBias !== undefined && Object.keys(request.logitBias).length > 0) {
    notes.dropField('logitBias', 'the Messages format does not support token biases')
  }
  if (request.verbosity !== undefined)
    notes.dropField('verbosity', 'the Messages format has no verbosity setting')
  if (request.metadata !== undefined && Object.keys(request.metadata).length > 0) {
    notes.dropField('metadata', 'the Messages format does not support labels')
  }
  if (request.store === true) notes.dropField('store', 'the Messages format does not store answers')
  if (request.cacheKey !== undefined) notes.dropField('cacheKey', 'the Messages format has no cache keys')
}
