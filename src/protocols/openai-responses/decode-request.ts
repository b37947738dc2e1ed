import type { AnswerFormat, ChatRequest, ReasoningWish } from '../../canonical/chat.ts'
import { reasoningEfforts } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { DecodeContext } from '../protocol.ts'
import { type ConfigurationUpdate, ItemDecoder } from './decode-items.ts'
import { decodeToolChoice, ToolList } from './decode-tools.ts'
import { Leftovers } from './leftovers.ts'
import {
  encryptedReasoning,
  optional,
  readBoolean,
  readList,
  readNumber,
  readObject,
  readText,
  readWord,
  wrongShape,
} from './wire.ts'

/**
 * A request of `POST /v1/responses` in canonical words.
 *
 * https://platform.openai.com/docs/api-reference/responses/create, read 2026-11-21
 */
export function decodeRequest(body: Json, context: DecodeContext): ChatRequest {
  const leftovers = new Leftovers()
  leftovers.unknown(body, '', members, losses)
  noteWhatIsHeldElsewhere(body, leftovers)

  const tools = new ToolList(leftovers)
  optional(body.tools, (value) => tools.add(value, 'tools'))
  const items = new ItemDecoder(tools, leftovers, context.envelope)
  optional(body.instructions, (value) => {
    const block = { type: 'text', text: readText(value, 'instructions'), path: 'instructions' } as const
    items.turns.push({ role: 'system', blocks: [block], path: 'instructions' })
  })
  decodeInput(body.input, items)
  const text = optional(body.text, (value) => readObject(value, 'text')) ?? {}
  leftovers.unknown(text, 'text', textMembers)

  return {
    model: readText(body.model, 'model'),
    stream: optional(body.stream, (value) => readBoolean(value, 'stream')) ?? false,
    turns: items.turns,
    tools: tools.list,
    toolChoice: optional(body.tool_choice, (value) => decodeToolChoice(value, leftovers)),
    parallelToolCalls: optional(body.parallel_tool_calls, (value) =>
      readBoolean(value, 'parallel_tool_calls'),
    ),
    maxOutputTokens: optional(body.max_output_tokens, (value) => readNumber(value, 'max_output_tokens')),
    choices: 1,
    temperature: optional(body.temperature, (value) => readNumber(value, 'temperature')),
    topP: optional(body.top_p, (value) => readNumber(value, 'top_p')),
    topK: undefined,
    seed: undefined,
    frequencyPenalty: undefined,
    presencePenalty: undefined,
    logitBias: undefined,
    stop: [],
    logprobs: decodeLogprobs(body, leftovers),
    reasoning: decodeReasoning(body.reasoning, items.update, leftovers),
    format: decodeFormat(text.format, items.update, leftovers),
    verbosity: optional(text.verbosity, (value) => readText(value, 'text.verbosity')),
    userId: decodeUser(body, leftovers),
    metadata: optional(body.metadata, (value) => readObject(value, 'metadata')),
    serviceTier: optional(body.service_tier, (value) => readText(value, 'service_tier')),
    store: decodeStore(body.store, leftovers),
    cacheKey: optional(body.prompt_cache_key, (value) => readText(value, 'prompt_cache_key')),
    unmapped: leftovers.list,
    names: typeof body.safety_identifier === 'string' ? names : { ...names, userId: 'user' },
  }
}

const names: ChatRequest['names'] = {
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  maxOutputTokens: 'max_output_tokens',
  topP: 'top_p',
  logprobs: 'top_logprobs',
  format: 'text.format',
  verbosity: 'text.verbosity',
  userId: 'safety_identifier',
  serviceTier: 'service_tier',
  cacheKey: 'prompt_cache_key',
}

/** Members that are read here, whatever becomes of them. */
const members = new Set([
  'model',
  'input',
  'instructions',
  'stream',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_logprobs',
  'include',
  'reasoning',
  'text',
  'safety_identifier',
  'user',
  'metadata',
  'service_tier',
  'store',
  'prompt_cache_key',
  'previous_response_id',
  'conversation',
  'prompt',
  'background',
  'moderation',
  'truncation',
  'stream_options',
])
const textMembers = new Set(['format', 'verbosity'])
const reasoningMembers = new Set(['effort', 'summary', 'generate_summary'])
const formatMembers = new Set(['type', 'name', 'description', 'schema', 'strict'])

/** Members that only this format has and that the answer is as good without. */
const losses: Readonly<Record<string, string>> = {
  access_programs: 'only OpenAI has access programs',
  client_metadata: 'other formats do not take it',
  context_management: 'other formats do not compact a conversation by themselves',
  image: 'other formats do not compress images in the context',
  max_tool_calls: "it counts calls of the vendor's own tools, which are not there",
  prompt_cache_options: 'other formats have no such options of their cache',
  prompt_cache_retention: 'other formats choose how long they cache',
}

/** What would be missing from the input, or from what the client gets. */
function noteWhatIsHeldElsewhere(body: Json, leftovers: Leftovers): void {
  for (const [name, reason] of held) {
    if (body[name] !== undefined && body[name] !== null) leftovers.refuse(name, reason)
  }
  if (optional(body.background, (value) => readBoolean(value, 'background'))) {
    leftovers.refuse('background', 'other formats answer at once or not at all')
  }
  if (optional(body.truncation, (value) => readWord(value, ['auto', 'disabled'], 'truncation')) === 'auto') {
    leftovers.drop('truncation', 'other formats refuse an input that is too long instead of cutting it')
  }
  const options = optional(body.stream_options, (value) => readObject(value, 'stream_options')) ?? {}
  leftovers.unknown(options, 'stream_options', streamOptionsMembers)
  const obfuscation = optional(options.include_obfuscation, (value) =>
    readBoolean(value, 'stream_options.include_obfuscation'),
  )
  if (obfuscation !== undefined) {
    const verdict = obfuscation ? 'drop' : 'map'
    leftovers[verdict]('stream_options.include_obfuscation', 'translated streams are not padded')
  }
}

const streamOptionsMembers = new Set(['include_obfuscation'])

const held = [
  ['previous_response_id', 'the earlier answer is not stored here: send its items in input'],
  ['conversation', 'the conversation is kept by one vendor: send its items in input'],
  ['prompt', 'the stored prompt is kept by one vendor: send its text in input'],
  ['moderation', 'other formats cannot moderate the request'],
] as const

function decodeInput(input: unknown, items: ItemDecoder): void {
  if (input === undefined || input === null) return
  if (typeof input === 'string') {
    items.turns.push({ role: 'user', blocks: [{ type: 'text', text: input, path: 'input' }], path: 'input' })
    return
  }
  if (!Array.isArray(input)) throw wrongShape('input', 'a string or an array of items', input)
  for (const [i, item] of input.entries()) items.add(readObject(item, `input[${i}]`), `input[${i}]`)
}

/** The number of alternatives; asked for by `include` too. */
function decodeLogprobs(body: Json, leftovers: Leftovers): { top: number } | undefined {
  const top = optional(body.top_logprobs, (value) => readNumber(value, 'top_logprobs')) ?? 0
  let isIncluded = false
  for (const [i, value] of (optional(body.include, (list) => readList(list, 'include')) ?? []).entries()) {
    const what = readText(value, `include[${i}]`)
    if (what === 'message.output_text.logprobs') isIncluded = true
    else if (what === encryptedReasoning) {
      leftovers.map(`include[${i}]`, 'reasoning always comes with what lets it be sent back')
    } else leftovers.drop(`include[${i}]`, `other formats have nothing like ${what.slice(0, 60)}`)
  }
  return isIncluded || top > 0 ? { top } : undefined
}

function decodeReasoning(
  value: unknown,
  update: ConfigurationUpdate | undefined,
  leftovers: Leftovers,
): ReasoningWish | undefined {
  const wish = optional(value, (reasoning) => readObject(reasoning, 'reasoning')) ?? {}
  leftovers.unknown(wish, 'reasoning', reasoningMembers, {
    context: 'other formats choose themselves which reasoning they show the model again',
    mode: 'other formats have one mode of reasoning',
  })
  const told = optional(wish.effort, (word) => readWord(word, reasoningEfforts, 'reasoning.effort'))
  const effort =
    optional(update?.effort, (word) =>
      readWord(word, reasoningEfforts, `${update?.path}.reasoning.effort`),
    ) ?? told
  const summary =
    optional(wish.summary, (word) => readText(word, 'reasoning.summary')) ??
    optional(wish.generate_summary, (word) => readText(word, 'reasoning.generate_summary'))
  if (effort === undefined && summary === undefined) return undefined
  return { effort, budgetTokens: undefined, summary }
}

function decodeFormat(
  value: unknown,
  update: ConfigurationUpdate | undefined,
  leftovers: Leftovers,
): AnswerFormat | undefined {
  const path = update?.format === undefined ? 'text.format' : `${update.path}.text.format`
  const format = optional(update?.format ?? value, (given) => readObject(given, path))
  if (format === undefined) return undefined
  leftovers.unknown(format, path, formatMembers)
  const type = readWord(format.type, ['text', 'json_object', 'json_schema'], `${path}.type`)
  if (type === 'text') return undefined
  if (type === 'json_object') return { type }
  return {
    type,
    name: optional(format.name, (name) => readText(name, `${path}.name`)),
    description: optional(format.description, (text) => readText(text, `${path}.description`)),
    schema: readObject(format.schema, `${path}.schema`),
    strict: optional(format.strict, (strict) => readBoolean(strict, `${path}.strict`)),
  }
}

function decodeUser(body: Json, leftovers: Leftovers): string | undefined {
  const identifier = optional(body.safety_identifier, (value) => readText(value, 'safety_identifier'))
  const user = optional(body.user, (value) => readText(value, 'user'))
  if (identifier !== undefined && user !== undefined && user !== identifier) {
    leftovers.drop('user', 'safety_identifier names the user already')
  }
  return identifier ?? user
}

/** Nothing is kept for later, which is only worth a word when the client asked for it. */
function decodeStore(value: unknown, leftovers: Leftovers): boolean | undefined {
  if (optional(value, (store) => readBoolean(store, 'store')) === undefined) return undefined
  if (value === true)
    leftovers.drop('store', 'an answer that is translated is not stored: its id cannot be used later')
  return false
}
