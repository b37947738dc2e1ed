import { createHash } from 'node:crypto'
import type { ChatRequest, ReasoningEffort } from '../../canonical/chat.ts'
import { type Json, parseObject } from '../../canonical/json.ts'
import { Notes, refused } from '../notes.ts'
import type { EncodeContext, EncodedRequest } from '../protocol.ts'
import { ToolNames } from '../tool-names.ts'
import { encodeMessages } from './encode-messages.ts'
import { encodeTools } from './encode-tools.ts'
import { toolNameRules } from './wire.ts'

/**
 * Encode a request for `/chat/completions`. Members that only some vendors know are there only if the client set them.
 *
 * https://platform.openai.com/docs/api-reference/chat/create, read 2026-11-21
 */
export function encodeRequest(request: ChatRequest, context: EncodeContext): EncodedRequest {
  const notes = new Notes(request)
  const tools = new ToolNames(toolNameRules)
  refuseOtherChoices(request, notes)
  if (request.topK !== undefined) notes.dropField('topK', 'the Chat Completions format has no top_k')
  const toolMembers = encodeTools(request, tools, notes)
  // JSON omits members without a value.
  const body: Json = {
    model: context.upstreamModel,
    messages: encodeMessages(request.turns, { notes, tools, upstreamModel: context.upstreamModel }),
    ...toolMembers,
    // Reasoning models refuse `max_tokens`.
    max_completion_tokens: request.maxOutputTokens,
    temperature: request.temperature,
    top_p: request.topP,
    seed: request.seed,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    logit_bias: request.logitBias,
    stop: encodeStop(request, notes),
    reasoning_effort: encodeEffort(request, notes),
    response_format: encodeFormat(request, notes),
    verbosity: request.verbosity,
    user: encodeUser(request, notes),
    metadata: encodeMetadata(request, notes),
    service_tier: encodeTier(request, notes),
    store: request.store || undefined,
    prompt_cache_key: request.cacheKey,
    ...(request.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
  return { body, notes: notes.list, tools }
}

/** The format has several choices and log probabilities, but a translated answer cannot hold them. */
function refuseOtherChoices(request: ChatRequest, notes: Notes): void {
  if (request.choices > 1) {
    throw refused(notes.pathOf('choices'), 'a translation gives one answer: send several requests')
  }
  if (request.logprobs !== undefined) {
    throw refused(notes.pathOf('logprobs'), 'log probabilities are not translated between formats')
  }
}

const stopMax = 4

function encodeStop({ stop }: ChatRequest, notes: Notes): readonly string[] | undefined {
  if (stop.length > stopMax) {
    throw refused(
      notes.pathOf('stop'),
      `the Chat Completions format takes at most ${stopMax}, got ${stop.length}`,
    )
  }
  return stop.length === 0 ? undefined : stop
}

function encodeEffort({ reasoning }: ChatRequest, notes: Notes): ReasoningEffort | undefined {
  if (reasoning === undefined) return undefined
  const { effort, budgetTokens, summary } = reasoning
  if (summary !== undefined && summary !== 'auto') {
    notes.dropField('reasoning', 'the upstream decides how much reasoning it shows')
  }
  if (budgetTokens === undefined) {
    const isOpen = effort === undefined && (summary === undefined || summary === 'auto')
    if (isOpen) notes.add('mapped', notes.pathOf('reasoning'), 'the upstream decides how much it thinks')
    return effort
  }
  if (effort !== undefined) {
    notes.dropField(
      'reasoning',
      'the Chat Completions format has no budget of tokens: the effort takes its place',
    )
    return effort
  }
  const word = effortOf(budgetTokens)
  notes.add('mapped', notes.pathOf('reasoning'), `a budget of ${budgetTokens} tokens is the effort "${word}"`)
  return word
}

/** About the budgets that vendors give to these words. */
function effortOf(budgetTokens: number): ReasoningEffort {
  if (budgetTokens === 0) return 'none'
  if (budgetTokens <= 4096) return 'low'
  return budgetTokens <= 16_384 ? 'medium' : 'high'
}

function encodeFormat({ format }: ChatRequest, notes: Notes): Json | undefined {
  if (format === undefined || format.type === 'json_object') return format
  const { type, description, schema, strict } = format
  const name = (format.name ?? '').replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'answer'
  if (name !== format.name) notes.add('defaulted', notes.pathOf('format'), `the schema is named "${name}"`)
  return {
    type,
    json_schema: {
      name,
      ...(description === undefined ? {} : { description }),
      schema,
      ...(strict === undefined ? {} : { strict }),
    },
  }
}

const userCharactersMax = 64

/** Some agents put ids of devices and sessions into a JSON object. A third party gets only a hash of it. */
function encodeUser({ userId }: ChatRequest, notes: Notes): string | undefined {
  if (userId === undefined) return undefined
  if (userId.length <= userCharactersMax && parseObject(userId) === undefined) return userId
  notes.add('mapped', notes.pathOf('userId'), 'a hash takes its place: it is long, or more than a name')
  return createHash('sha256').update(userId).digest('hex')
}

function encodeMetadata({ metadata, store }: ChatRequest, notes: Notes): Json | undefined {
  if (metadata === undefined) return undefined
  if (store === true && Object.values(metadata).every((value) => typeof value === 'string')) return metadata
  notes.dropField(
    'metadata',
    'the Chat Completions format takes only text labels, and only for stored answers',
  )
  return undefined
}

const tiers: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])

function encodeTier({ serviceTier }: ChatRequest, notes: Notes): string | undefined {
  if (serviceTier === undefined || tiers.has(serviceTier)) return serviceTier
  if (serviceTier === 'standard_only') return 'default'
  notes.dropField('serviceTier', 'the Chat Completions format has no service tier of this name')
  return undefined
}
