import type { AnswerFormat, ChatRequest } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { DecodeContext } from '../protocol.ts'
import { decodeMessages } from './decode-messages.ts'
import { decodeReasoningWish } from './decode-reasoning.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'
import {
  isPresent,
  Others,
  optional,
  readBoolean,
  readCount,
  readInteger,
  readList,
  readName,
  readNumber,
  readRecord,
  readString,
  wrong,
} from './shape.ts'

/**
 * A `/chat/completions` body in canonical words: every member that the vendor documents, those that the format once
 * had (`functions`, `max_tokens`), and what other vendors' clients add.
 *
 * https://platform.openai.com/docs/api-reference/chat/create, read 2026-11-21
 */
export function decodeRequest(body: Json, context: DecodeContext): ChatRequest {
  const others = new Others()
  others.unknown(body, knownMembers, '')
  const bounds = decodeBounds(body, others)
  const user = decodeUser(body, others)
  const reasoning = decodeReasoningWish(body, others)
  const tools = decodeTools(body, others)
  const choice = decodeToolChoice(body, others)
  decodeRest(body, others)
  return {
    model: readName(body.model, 'model'),
    stream: optional(body.stream, 'stream', readBoolean) ?? false,
    turns: decodeMessages(body.messages, { envelope: context.envelope, others }),
    tools: tools.list,
    toolChoice: choice.value,
    parallelToolCalls: decodeParallel(body, tools.isLegacy),
    maxOutputTokens: bounds.value,
    choices: decodeChoices(body),
    temperature: optional(body.temperature, 'temperature', readNumber),
    topP: optional(body.top_p, 'top_p', readNumber),
    topK: optional(body.top_k, 'top_k', readNumber),
    seed: optional(body.seed, 'seed', readInteger),
    frequencyPenalty: optional(body.frequency_penalty, 'frequency_penalty', readNumber),
    presencePenalty: optional(body.presence_penalty, 'presence_penalty', readNumber),
    logitBias: optional(body.logit_bias, 'logit_bias', readRecord),
    stop: decodeStop(body.stop),
    logprobs: decodeLogprobs(body, others),
    reasoning: reasoning.value,
    format: decodeFormat(body.response_format, others),
    verbosity: optional(body.verbosity, 'verbosity', readString),
    userId: user.value,
    metadata: optional(body.metadata, 'metadata', readRecord),
    serviceTier: optional(body.service_tier, 'service_tier', readString),
    store: optional(body.store, 'store', readBoolean),
    cacheKey: optional(body.prompt_cache_key, 'prompt_cache_key', readString),
    unmapped: others.list,
    names: {
      ...names,
      tools: tools.name,
      toolChoice: choice.name,
      maxOutputTokens: bounds.name,
      reasoning: reasoning.name,
      userId: user.name,
    },
  }
}

const names: ChatRequest['names'] = {
  parallelToolCalls: 'parallel_tool_calls',
  choices: 'n',
  topP: 'top_p',
  topK: 'top_k',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  logitBias: 'logit_bias',
  format: 'response_format',
  serviceTier: 'service_tier',
  cacheKey: 'prompt_cache_key',
}

const knownMembers: ReadonlySet<string> = new Set([
  'audio',
  'enable_thinking',
  'frequency_penalty',
  'function_call',
  'functions',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'messages',
  'metadata',
  'modalities',
  'model',
  'moderation',
  'n',
  'parallel_tool_calls',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'reasoning_effort',
  'response_format',
  'safety_identifier',
  'seed',
  'service_tier',
  'stop',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'thinking',
  'thinking_budget',
  'tool_choice',
  'tools',
  'top_k',
  'top_logprobs',
  'top_p',
  'user',
  'verbosity',
  'web_search_options',
])

function decodeBounds(body: Json, others: Others) {
  const now = optional(body.max_completion_tokens, 'max_completion_tokens', readCount)
  const before = optional(body.max_tokens, 'max_tokens', readCount)
  if (now === undefined) return { value: before, name: 'max_tokens' }
  if (before !== undefined && before !== now)
    others.drop('max_tokens', 'max_completion_tokens stands in its place')
  return { value: now, name: 'max_completion_tokens' }
}

function decodeUser(body: Json, others: Others) {
  const user = optional(body.user, 'user', readString)
  const safety = optional(body.safety_identifier, 'safety_identifier', readString)
  if (safety === undefined) return { value: user, name: 'user' }
  if (user !== undefined && user !== safety) others.drop('user', 'safety_identifier stands in its place')
  return { value: safety, name: 'safety_identifier' }
}

/** Clients that speak of `functions` can read no more than one call in an answer. */
function decodeParallel(body: Json, isLegacy: boolean): boolean | undefined {
  return (
    optional(body.parallel_tool_calls, 'parallel_tool_calls', readBoolean) ?? (isLegacy ? false : undefined)
  )
}

function decodeChoices(body: Json): number {
  const choices = optional(body.n, 'n', readCount) ?? 1
  if (choices < 1 || choices > 128) throw wrong(choices, 'n', 'an integer from 1 to 128')
  return choices
}

function decodeStop(value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) throw wrong(value, 'stop', 'a string or an array of strings')
  return value.map((sequence, index) => readString(sequence, `stop[${index}]`))
}

function decodeLogprobs(body: Json, others: Others): ChatRequest['logprobs'] {
  const isWanted = optional(body.logprobs, 'logprobs', readBoolean) ?? false
  const top = optional(body.top_logprobs, 'top_logprobs', readCount)
  if (isWanted) return { top: top ?? 0 }
  if (top !== undefined) others.drop('top_logprobs', 'it means nothing without logprobs')
  return undefined
}

function decodeFormat(value: unknown, others: Others): AnswerFormat | undefined {
  const format = optional(value, 'response_format', readRecord)
  if (format === undefined) return undefined
  const path = 'response_format'
  others.unknown(format, formatMembers, path)
  const type = readString(format.type, `${path}.type`)
  if (type === 'text') return undefined
  if (type === 'json_object') return { type }
  if (type !== 'json_schema') {
    others.refuse(`${path}.type`, `other formats have no answers of the type "${type.slice(0, 40)}"`)
    return undefined
  }
  const inner = readRecord(format.json_schema, `${path}.json_schema`)
  others.unknown(inner, schemaMembers, `${path}.json_schema`)
  return {
    type,
    name: optional(inner.name, `${path}.json_schema.name`, readString),
    description: optional(inner.description, `${path}.json_schema.description`, readString),
    schema: optional(inner.schema, `${path}.json_schema.schema`, readRecord) ?? {},
    strict: optional(inner.strict, `${path}.json_schema.strict`, readBoolean),
  }
}

const formatMembers: ReadonlySet<string> = new Set(['type', 'json_schema'])
const schemaMembers: ReadonlySet<string> = new Set(['name', 'description', 'schema', 'strict'])

/** Members without a canonical home. */
function decodeRest(body: Json, others: Others): void {
  const modalities = optional(body.modalities, 'modalities', readList) ?? []
  const isSpoken = modalities.some((modality) => modality !== 'text')
  if (isSpoken) others.refuse('modalities', 'other formats answer in text alone')
  if (isPresent(body.audio) && !isSpoken)
    others.drop('audio', 'it means nothing without the modality "audio"')
  if (isPresent(body.moderation)) others.refuse('moderation', 'only the vendor of this format moderates')
  if (isPresent(body.prediction))
    others.drop('prediction', 'only this format takes predictions; it saves time alone')
  for (const member of ['prompt_cache_options', 'prompt_cache_retention'] as const) {
    if (isPresent(body[member])) others.drop(member, 'other formats cache in their own ways')
  }
  const options = optional(body.stream_options, 'stream_options', readRecord)
  if (options === undefined) return
  optional(options.include_usage, 'stream_options.include_usage', readBoolean)
  others.unknown(options, streamOptionMembers, 'stream_options')
  if (options.include_obfuscation === true) {
    others.drop('stream_options.include_obfuscation', 'translated streams are not padded')
  }
}

const streamOptionMembers: ReadonlySet<string> = new Set(['include_usage', 'include_obfuscation'])
