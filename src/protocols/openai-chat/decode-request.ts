import type { AnswerFormat, ChatRequest } from '../../canonical/chat.ts'
import { wrongType } from '../../canonical/field-error.ts'
import type { Json } from '../../canonical/json.ts'
import { Members } from '../members.ts'
import { modelName } from '../model-name.ts'
import type { DecodeContext } from '../protocol.ts'
import { UnmappedFields } from '../unmapped-fields.ts'
import { decodeMessages } from './decode-messages.ts'
import { decodeReasoningOptions } from './decode-reasoning.ts'
import { decodeToolChoice, decodeTools, decodeWebSearch } from './decode-tools.ts'

/**
 * Decodes a `/chat/completions` body: all members that the vendor documents, older ones (`functions`,
 * `max_tokens`), and members added by clients of other vendors.
 *
 * https://platform.openai.com/docs/api-reference/chat/create, read 2026-11-21
 */
export function decodeRequest(body: Json, { envelope }: DecodeContext): ChatRequest {
  const unmapped = new UnmappedFields()
  const members = new Members(body, '', unmapped)
  const bounds = decodeBounds(members)
  const user = decodeUser(members)
  const reasoning = decodeReasoningOptions(members)
  const tools = decodeTools(members)
  const choice = decodeToolChoice(members)
  const request: ChatRequest = {
    model: modelName(members.any('model')),
    stream: members.boolean('stream') ?? false,
    turns: decodeMessages(members, envelope),
    tools: tools.list,
    webSearch: decodeWebSearch(members),
    toolChoice: choice.value,
    // Clients that send `functions` can read only one call per answer.
    parallelToolCalls: members.boolean('parallel_tool_calls') ?? (tools.isLegacy ? false : undefined),
    maxOutputTokens: bounds.value,
    choices: members.integer('n', 1, 128) ?? 1,
    temperature: members.number('temperature'),
    topP: members.number('top_p'),
    topK: members.number('top_k'),
    seed: members.integer('seed'),
    frequencyPenalty: members.number('frequency_penalty'),
    presencePenalty: members.number('presence_penalty'),
    logitBias: members.object('logit_bias'),
    stop: decodeStop(members),
    logprobs: decodeLogprobs(members),
    reasoning: reasoning.value,
    format: decodeFormat(members),
    verbosity: members.text('verbosity'),
    userId: user.value,
    metadata: members.object('metadata'),
    serviceTier: members.text('service_tier'),
    store: members.boolean('store'),
    cacheKey: members.text('prompt_cache_key'),
    unmapped: unmapped.list,
    names: {
      ...names,
      tools: tools.name,
      toolChoice: choice.name,
      maxOutputTokens: bounds.name,
      reasoning: reasoning.name,
      userId: user.name,
    },
  }
  noteVendorFields(members)
  members.noteRest()
  return request
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

function decodeBounds(members: Members) {
  const now = members.integer('max_completion_tokens', 0)
  const before = members.integer('max_tokens', 0)
  if (now === undefined) return { value: before, name: 'max_tokens' }
  if (before !== now) members.drop('max_tokens', 'replaced by max_completion_tokens')
  return { value: now, name: 'max_completion_tokens' }
}

function decodeUser(members: Members) {
  const user = members.text('user')
  const safety = members.text('safety_identifier')
  if (safety === undefined) return { value: user, name: 'user' }
  if (user !== safety) members.drop('user', 'replaced by safety_identifier')
  return { value: safety, name: 'safety_identifier' }
}

function decodeStop(members: Members): string[] {
  const stop = members.any('stop')
  if (typeof stop === 'string') return [stop]
  if (stop !== undefined && !Array.isArray(stop))
    throw wrongType(stop, 'stop', 'a string or an array of strings')
  return members.texts('stop') ?? []
}

function decodeLogprobs(members: Members): ChatRequest['logprobs'] {
  const top = members.integer('top_logprobs', 0)
  if (members.boolean('logprobs')) return { top: top ?? 0 }
  members.drop('top_logprobs', 'it has no effect without logprobs')
  return undefined
}

function decodeFormat(members: Members): AnswerFormat | undefined {
  const format = members.members('response_format')
  if (format === undefined) return undefined
  const type = format.requiredText('type')
  const inner = type === 'json_schema' ? format.requiredMembers('json_schema') : undefined
  format.ignore(['json_schema'])
  format.noteRest()
  if (type === 'text') return undefined
  if (type === 'json_object') return { type }
  if (type !== 'json_schema' || inner === undefined) {
    format.refuse('type', `other formats do not support answers of type "${type.slice(0, 40)}"`)
    return undefined
  }
  const decoded: AnswerFormat = {
    type,
    name: inner.text('name'),
    description: inner.text('description'),
    schema: inner.object('schema') ?? {},
    strict: inner.boolean('strict'),
  }
  inner.noteRest()
  return decoded
}

/** Handles members that only this vendor supports. */
function noteVendorFields(members: Members): void {
  const isSpoken = (members.list('modalities') ?? []).some((modality) => modality !== 'text')
  if (isSpoken) members.refuse('modalities', 'other formats support only text answers')
  if (isSpoken) members.ignore(['audio'])
  else members.drop('audio', 'it has no effect without the modality "audio"')
  members.refuse('moderation', 'only the vendor of this format supports moderation')
  members.drop('prediction', 'other formats do not support predictions, which only save time')
  members.drop('prompt_cache_options', 'other formats have different caching settings')
  members.drop('prompt_cache_retention', 'other formats have different caching settings')
  const options = members.members('stream_options')
  options?.boolean('include_usage')
  if (options?.any('include_obfuscation') === true)
    options.drop('include_obfuscation', 'translated streams are not padded')
  options?.noteRest()
}
