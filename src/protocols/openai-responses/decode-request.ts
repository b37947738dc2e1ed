import {
  type AnswerFormat,
  type ChatRequest,
  type ReasoningOptions,
  reasoningEfforts,
  type WebSearch,
} from '../../canonical/chat.ts'
import { wrongType } from '../../canonical/field-error.ts'
import type { Json } from '../../canonical/json.ts'
import { encryptedReasoning } from '../added-members.ts'
import { Members } from '../members.ts'
import { modelName } from '../model-name.ts'
import type { DecodeContext } from '../protocol.ts'
import { UnmappedFields } from '../unmapped-fields.ts'
import { type ConfigurationUpdate, ItemDecoder } from './decode-items.ts'
import { decodeToolChoice, ToolList } from './decode-tools.ts'
import { searchSources } from './web-search.ts'

/**
 * Decodes a request of `POST /v1/responses`.
 *
 * https://platform.openai.com/docs/api-reference/responses/create, read 2026-11-21
 */
export function decodeRequest(body: Json, { envelope, isKept = false }: DecodeContext): ChatRequest {
  const unmapped = new UnmappedFields()
  const members = new Members(body, '', unmapped)
  noteWhatIsHeldElsewhere(members)

  const tools = new ToolList()
  const given = members.objects('tools')
  if (given?.length === 0) unmapped.map('tools', 'left out: an empty list means no tools')
  tools.add(given ?? [])
  const maxUses = members.integer('max_tool_calls', 0)
  const items = new ItemDecoder(tools, envelope)
  const instructions = members.text('instructions')
  if (instructions !== undefined) {
    const block = { type: 'text', text: instructions, path: 'instructions' } as const
    items.turns.push({ role: 'system', blocks: [block], path: 'instructions' })
  }
  decodeInput(members, items)
  const text = members.members('text') ?? new Members({}, 'text', unmapped)
  const user = decodeUser(members)

  const request: ChatRequest = {
    model: modelName(members.any('model')),
    stream: members.boolean('stream') ?? false,
    turns: items.turns,
    tools: tools.list,
    webSearch: boundSearch(tools.webSearch, maxUses, members),
    toolChoice: decodeToolChoice(members, tools.list),
    parallelToolCalls: members.boolean('parallel_tool_calls'),
    maxOutputTokens: members.number('max_output_tokens'),
    choices: 1,
    temperature: members.number('temperature'),
    topP: members.number('top_p'),
    topK: undefined,
    seed: undefined,
    frequencyPenalty: undefined,
    presencePenalty: undefined,
    logitBias: undefined,
    stop: [],
    logprobs: decodeLogprobs(members),
    reasoning: decodeReasoning(members, items.update),
    format: decodeFormat(items.update.format ?? text.members('format')),
    verbosity: text.text('verbosity'),
    userId: user.value,
    metadata: members.object('metadata'),
    serviceTier: members.text('service_tier'),
    store: decodeStore(members, isKept),
    cacheKey: members.text('prompt_cache_key'),
    unmapped: unmapped.list,
    names: { ...names, userId: user.name },
  }
  text.ignore(['format'])
  text.noteRest()
  members.noteRest(losses)
  return request
}

const names: ChatRequest['names'] = {
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  maxOutputTokens: 'max_output_tokens',
  topP: 'top_p',
  logprobs: 'top_logprobs',
  format: 'text.format',
  verbosity: 'text.verbosity',
  serviceTier: 'service_tier',
  cacheKey: 'prompt_cache_key',
}

/** Members that only this format supports and that the answer does not depend on. */
const losses: Readonly<Record<string, string>> = {
  access_programs: 'only OpenAI has access programs',
  client_metadata: 'other formats do not support it',
  image: 'other formats do not compress images in the context',
  prompt_cache_options: 'other formats have no such cache options',
  prompt_cache_retention: 'other formats choose the cache duration themselves',
}

/**
 * Refuses members without which part of the input, or part of what the client requested, would be missing.
 */
function noteWhatIsHeldElsewhere(members: Members): void {
  members.refuse(
    'previous_response_id',
    'the gateway does not store the earlier answer: send its items in input',
  )
  members.refuse('conversation', 'the conversation is stored at its own vendor: send its items in input')
  members.refuse('prompt', 'the prompt is stored at its own vendor: send its text in input')
  members.refuse('moderation', 'other formats do not support moderation')
  noteContextManagement(members)
  if (members.boolean('background'))
    members.refuse('background', 'other formats do not support background answers')
  if (members.word('truncation', ['auto', 'disabled']) === 'auto')
    members.drop('truncation', 'other formats refuse an input that is too long instead of truncating it')
  const options = members.members('stream_options')
  const obfuscation = options?.boolean('include_obfuscation')
  if (obfuscation !== undefined) {
    const verdict = obfuscation ? 'drop' : 'map'
    members.unmapped[verdict]('stream_options.include_obfuscation', 'translated streams are not padded')
  }
  options?.noteRest()
}

/**
 * Refused, because an agent that relies on it would send an ever longer context. An empty list requests
 * nothing.
 */
function noteContextManagement(members: Members): void {
  const given = members.any('context_management')
  if (Array.isArray(given) && given.length === 0)
    members.unmapped.map('context_management', 'left out: an empty list has no effect')
  else if (given !== undefined) {
    const reason =
      'only channels in this format compact the context automatically: leave it out, and compact with POST /v1/responses/compact'
    members.refuse('context_management', reason)
  }
}

function decodeInput(members: Members, items: ItemDecoder): void {
  const input = members.any('input')
  if (typeof input === 'string') {
    items.turns.push({ role: 'user', blocks: [{ type: 'text', text: input, path: 'input' }], path: 'input' })
    return
  }
  if (input !== undefined && !Array.isArray(input))
    throw wrongType(input, 'input', 'a string or an array of items')
  for (const item of members.objects('input') ?? []) items.add(item)
}

/**
 * `max_tool_calls` limits the calls of all tools that the vendor runs. Other formats can limit only their web
 * search.
 */
function boundSearch(
  search: WebSearch | undefined,
  maxUses: number | undefined,
  members: Members,
): WebSearch | undefined {
  if (maxUses === undefined || (search !== undefined && maxUses > 0)) {
    return search && { ...search, ...(maxUses === undefined ? {} : { maxUses }) }
  }
  const reason =
    search === undefined
      ? "it limits calls of the vendor's own tools, which the upstream does not have"
      : 'a web search that must not be called is left out'
  members.unmapped[search === undefined ? 'drop' : 'map']('max_tool_calls', reason)
  return undefined
}

/** The number of alternatives. `include` can request log probabilities as well. */
function decodeLogprobs(members: Members): { top: number } | undefined {
  const top = members.number('top_logprobs') ?? 0
  let isIncluded = false
  for (const [i, what] of (members.texts('include') ?? []).entries()) {
    const path = `include[${i}]`
    if (what === 'message.output_text.logprobs') isIncluded = true
    else if (what === encryptedReasoning) {
      members.unmapped.map(path, 'reasoning always includes the data needed to send it back')
    } else if (what === searchSources) {
      members.unmapped.map(path, 'a web search always includes the pages that the upstream reports')
    } else members.unmapped.drop(path, `other formats have no equivalent of ${what.slice(0, 60)}`)
  }
  return isIncluded || top > 0 ? { top } : undefined
}

function decodeReasoning(members: Members, update: ConfigurationUpdate): ReasoningOptions | undefined {
  const asked = members.members('reasoning')
  const effort = update.effort ?? asked?.word('effort', reasoningEfforts)
  const older = asked?.text('generate_summary')
  const summary = asked?.text('summary') ?? older
  asked?.ignore(['effort'])
  asked?.noteRest({
    context: 'other formats determine themselves which earlier reasoning the model sees',
    mode: 'other formats have only one reasoning mode',
  })
  if (effort === undefined && summary === undefined) return undefined
  return { effort, budgetTokens: undefined, summary }
}

function decodeFormat(format: Members | undefined): AnswerFormat | undefined {
  if (format === undefined) return undefined
  const type = format.requiredWord('type', ['text', 'json_object', 'json_schema'])
  format.ignore(['name', 'description', 'schema', 'strict'])
  format.noteRest()
  if (type === 'text') return undefined
  if (type === 'json_object') return { type }
  return {
    type,
    name: format.text('name'),
    description: format.text('description'),
    schema: format.requiredObject('schema'),
    strict: format.boolean('strict'),
  }
}

function decodeUser(members: Members) {
  const identifier = members.text('safety_identifier')
  const user = members.text('user')
  if (identifier === undefined) return { value: user, name: 'user' }
  if (user !== identifier) members.drop('user', 'replaced by safety_identifier')
  return { value: identifier, name: 'safety_identifier' }
}

/**
 * Upstreams with other formats do not store answers. A note reports that only if the client requested it and
 * the gateway does not store the answer.
 */
function decodeStore(members: Members, isKept: boolean): boolean | undefined {
  const store = members.boolean('store')
  if (store && !isKept)
    members.drop('store', 'a translated answer is not stored: its id cannot be used later')
  return store === undefined ? undefined : false
}
