import { createHash } from 'node:crypto'
import type { ChatRequest } from '../../canonical/chat.ts'
import { type Json, parseObject } from '../../canonical/json.ts'
import { mergeTraits, type Traits } from '../../canonical/traits.ts'
import { fitRequest } from '../fit-request.ts'
import { Notes, refused } from '../notes.ts'
import { PromptMarks } from '../prompt-marks.ts'
import type { EncodeContext, EncodedRequest } from '../protocol.ts'
import { ToolNames } from '../tool-names.ts'
import { encodeMessages } from './encode-messages.ts'
import { encodeTools } from './encode-tools.ts'
import { encodeWebSearch, fitChatSearch } from './encode-web-search.ts'
import { fitMessages } from './fit-messages.ts'
import { toolNameRules } from './wire.ts'

/**
 * Encodes a request for `/chat/completions`. Members that only some vendors support are included only if the
 * client set them.
 *
 * https://platform.openai.com/docs/api-reference/chat/create, read 2026-11-21
 */
export function encodeRequest(asked: ChatRequest, context: EncodeContext): EncodedRequest {
  const { upstreamModel } = context
  const traits = mergeTraits(traitsOfFormat(upstreamModel), context.traits)
  const notes = new Notes(asked)
  const tools = new ToolNames(toolNameRules)
  refuseOtherChoices(asked, notes)
  noteSummary(asked, notes)
  const request = fitRequest(fitChatSearch(asked, traits, notes), traits, notes)
  const takesTopK = traits.takes?.topK === true
  if (request.topK !== undefined && !takesTopK) {
    notes.dropField('topK', 'the Chat Completions format has no top_k parameter')
  }
  const customTools = traits.customTools !== false
  const marks = new PromptMarks(notes, { upstreamModel, traits })
  const toolMembers = encodeTools(request, { tools, notes, marks, customTools })
  const encoded = encodeMessages(request.turns, {
    notes,
    marks,
    tools,
    upstreamModel,
    customTools,
    developerRole: traits.developerRole === true,
    severalInstructions: traits.laterInstructions !== false && traits.severalInstructions !== false,
    textParts: traits.textParts === true,
    callIds: traits.callIds,
    memo: context.memo,
  })
  const messages = fitMessages(encoded, request.turns, traits, notes)
  // JSON omits undefined members.
  const body: Json = {
    model: upstreamModel,
    messages,
    ...toolMembers,
    ...encodeWebSearch(request),
    [traits.outputBound ?? 'max_tokens']: request.maxOutputTokens,
    temperature: request.temperature,
    top_p: request.topP,
    ...(takesTopK ? { top_k: request.topK } : {}),
    seed: request.seed,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    logit_bias: request.logitBias,
    stop: request.stop.length === 0 ? undefined : request.stop,
    ...encodeThinking(request, traits),
    response_format: encodeFormat(request, notes),
    verbosity: request.verbosity,
    user: encodeUser(request, notes),
    metadata: encodeMetadata(request, notes),
    service_tier: encodeTier(request, notes),
    store: request.store || undefined,
    prompt_cache_key: request.cacheKey,
    ...(request.stream ? { stream: true } : {}),
    ...(request.stream && traits.takes?.streamOptions !== false
      ? { stream_options: { include_usage: true } }
      : {}),
  }
  return { body, notes: notes.list, tools }
}

/** The format supports several choices and log probabilities, but a translated answer cannot contain them. */
function refuseOtherChoices(request: ChatRequest, notes: Notes): void {
  if (request.choices > 1) {
    throw refused(
      notes.pathOf('choices'),
      'a translated request returns only one answer: send several requests',
    )
  }
  if (request.logprobs !== undefined) {
    throw refused(notes.pathOf('logprobs'), 'log probabilities are not translated between formats')
  }
}

function noteSummary({ reasoning }: ChatRequest, notes: Notes): void {
  if (reasoning === undefined) return
  const { effort, budgetTokens, summary } = reasoning
  const isOpen = summary === undefined || summary === 'auto'
  if (!isOpen) notes.dropField('reasoning', 'the upstream decides how much reasoning it shows')
  else if (effort === undefined && budgetTokens === undefined) {
    notes.add('mapped', notes.pathOf('reasoning'), 'the upstream decides how much to think')
  }
}

/**
 * Encodes `reasoning_effort`, or the members with which vendors turn thinking on and off: `thinking` of
 * DeepSeek, Moonshot and Z.AI, or those of Qwen for a model that measures thinking in tokens.
 * https://www.alibabacloud.com/help/en/model-studio/deep-thinking, read 2026-11-22,
 * https://api-docs.deepseek.com/guides/thinking_mode, https://docs.z.ai/guides/overview/concept-param, read
 * 2026-11-28
 */
function encodeThinking({ reasoning }: ChatRequest, { thinking, thinkingSwitch }: Traits): Json {
  if (reasoning === undefined) return {}
  const { effort, budgetTokens } = reasoning
  if (thinking === 'budget') {
    if (budgetTokens === undefined) return {}
    return budgetTokens === 0
      ? { enable_thinking: false }
      : { enable_thinking: true, thinking_budget: budgetTokens }
  }
  const isOff = effort === 'none'
  if (thinking !== 'switch' && !(isOff && thinkingSwitch !== undefined)) return { reasoning_effort: effort }
  if (effort === undefined) return {}
  if (thinkingSwitch === 'enable_thinking') return { enable_thinking: !isOff }
  return { thinking: { type: isOff ? 'disabled' : 'enabled' } }
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

/**
 * Some agents put ids of devices and sessions into a JSON object. Third parties receive only a hash of it.
 */
function encodeUser({ userId }: ChatRequest, notes: Notes): string | undefined {
  if (userId === undefined) return undefined
  if (userId.length <= userCharactersMax && parseObject(userId) === undefined) return userId
  notes.add('mapped', notes.pathOf('userId'), 'replaced by a hash: it is long, or contains more than a name')
  return createHash('sha256').update(userId).digest('hex')
}

function encodeMetadata({ metadata, store }: ChatRequest, notes: Notes): Json | undefined {
  if (metadata === undefined) return undefined
  if (store === true && Object.values(metadata).every((value) => typeof value === 'string')) return metadata
  notes.dropField(
    'metadata',
    'the Chat Completions format supports only text labels, and only for stored answers',
  )
  return undefined
}

const tiers: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])

function encodeTier({ serviceTier }: ChatRequest, notes: Notes): string | undefined {
  if (serviceTier === undefined || tiers.has(serviceTier)) return serviceTier
  if (serviceTier === 'standard_only') return 'default'
  notes.dropField('serviceTier', 'the Chat Completions format has no service tier with this name')
  return undefined
}

/**
 * The default traits of an upstream of this format if nothing else is known about the model.
 *
 * OpenAI's reasoning models refuse `max_tokens`, and its other models accept both names. Other servers of
 * this format support `max_tokens`, and some refuse the other name: Mistral with 422, older servers of vLLM
 * and Azure with 400. Others ignore it, so the limit would be lost without notice. Therefore a model whose
 * name is not one of OpenAI's gets the older parameter. https://github.com/anomalyco/opencode/issues/37964,
 * https://github.com/editor-code-assistant/eca/issues/231, https://github.com/voideditor/void/issues/128,
 * https://github.com/BerriAI/litellm/issues/8855, read 2026-11-22
 *
 * Only OpenAI has custom tools. Other servers expect a function in each tool:
 * https://github.com/microsoft/foundry-local/issues/1080, https://github.com/JiuliNuoyi/CodexRosetta/pull/1,
 * read 2026-11-22
 *
 * The chat templates of many models served by others concatenate texts and fail on parts:
 * https://github.com/router-for-me/CLIProxyAPI/issues/3056, https://github.com/earendil-works/pi/pull/1528,
 * read 2026-11-28
 */
function traitsOfFormat(upstreamModel: string): Traits {
  return isOpenAiModel(upstreamModel) ? openAi : others
}

const openAi: Traits = {
  stopMax: 4,
  outputBound: 'max_completion_tokens',
  customTools: true,
  textParts: true,
}
const others: Traits = { stopMax: 4, outputBound: 'max_tokens', customTools: false, textParts: false }

/**
 * Whether a model has one of OpenAI's names, also after a path or in the name of a fine-tuned model:
 * `openai/gpt-5`, `ft:gpt-4o:acme`. The open models (`gpt-oss`, GPT-J, GPT-NeoX) run elsewhere.
 */
function isOpenAiModel(upstreamModel: string): boolean {
  return /(^|[/:])(gpt-(?!oss|j\b|neo)|chatgpt-|o\d(-|$)|codex-|computer-use)/.test(
    upstreamModel.toLowerCase(),
  )
}
