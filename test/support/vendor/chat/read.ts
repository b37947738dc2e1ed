import { isRecord, type Json, recordsOf } from '../../../../src/canonical/json.ts'
import { isThought } from '../answer.ts'
import {
  checkStrictSchema,
  expectFilled,
  expectInteger,
  expectNumber,
  expectObject,
  expectOneOf,
  expectText,
  isAbsent,
  refuse,
  refuseUnknown,
} from '../check.ts'
import type { Call } from '../dialect.ts'
import { checkGpt } from '../gpt.ts'
import { mediaOfUrl, mediaWords, type Question, type Tool, type ToolChoice, tokensOf } from '../question.ts'
import { checkDeepSeek, isDeepSeek } from './deepseek.ts'
import { checkMistral } from './mistral.ts'

/**
 * Reads a `/chat/completions` body by the vendor's rules. Throws Refusal.
 *
 * https://platform.openai.com/docs/api-reference/chat/create, read 2026-11-21
 */
export function readChat({ body }: Call): Question {
  checkMistral(body)
  const known = isDeepSeek(body) ? [...members, 'thinking'] : members
  refuseUnknown(body, known, (name) => `Unrecognized request argument supplied: ${name}`)
  const messages = expectFilled(body.messages, 'messages')
  checkSettings(body)
  checkGpt(body, typeof body.model === 'string' ? body.model : '', 'chat')
  checkDeepSeek(body)
  checkMessages(messages)
  const tools = readTools(body.tools)
  if (isAbsent(body.tools)) {
    for (const name of ['tool_choice', 'parallel_tool_calls'] as const) {
      if (!isAbsent(body[name])) refuse(`'${name}' is only allowed when 'tools' are specified.`, name)
    }
  }
  const trailing = messages.findLastIndex(({ role }) => role !== 'tool' && role !== 'function')
  const user = messages.findLast(({ role }) => role === 'user')
  return {
    model: typeof body.model === 'string' ? body.model : 'vendor',
    stream: body.stream === true,
    choices: expectInteger(body.n, 'n', 1, 128) ?? 1,
    text: textOf(user?.content),
    results: messages.slice(trailing + 1).map(({ content }) => textOf(content)),
    turns: messages.length,
    tools,
    choice: readChoice(body.tool_choice),
    isParallel: body.parallel_tool_calls !== false,
    format: readFormat(body.response_format),
    tokensMax:
      (isDeepSeek(body)
        ? undefined
        : expectInteger(body.max_completion_tokens, 'max_completion_tokens', 1)) ??
      expectInteger(body.max_tokens, 'max_tokens', 1) ??
      Number.POSITIVE_INFINITY,
    stop: readStop(body.stop),
    thinks: typeof body.reasoning_effort === 'string' && body.reasoning_effort !== 'none',
    thoughtsKnown: messages.filter(
      ({ reasoning_content: thought }) => typeof thought === 'string' && isThought(thought),
    ).length,
    promptTokens: tokensOf(messages),
  }
}

const members = [
  ...[
    'messages',
    'model',
    'audio',
    'frequency_penalty',
    'function_call',
    'functions',
    'logit_bias',
    'logprobs',
  ],
  ...['top_logprobs', 'max_completion_tokens', 'max_tokens', 'metadata', 'modalities', 'moderation', 'n'],
  ...['parallel_tool_calls', 'prediction', 'presence_penalty', 'prompt_cache_key', 'prompt_cache_options'],
  ...[
    'prompt_cache_retention',
    'reasoning_effort',
    'response_format',
    'safety_identifier',
    'seed',
    'service_tier',
  ],
  ...['stop', 'store', 'stream', 'stream_options', 'temperature', 'tool_choice', 'tools', 'top_p', 'user'],
  ...['verbosity', 'web_search_options'],
]

function checkSettings(body: Json): void {
  expectNumber(body.temperature, 'temperature', 0, 2)
  expectNumber(body.top_p, 'top_p', 0, 1)
  expectNumber(body.frequency_penalty, 'frequency_penalty', -2, 2)
  expectNumber(body.presence_penalty, 'presence_penalty', -2, 2)
  const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
  expectOneOf(body.reasoning_effort, 'reasoning_effort', efforts)
  expectOneOf(body.verbosity, 'verbosity', ['low', 'medium', 'high'])
  if (!isAbsent(body.stream_options) && body.stream !== true) {
    refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options')
  }
  if (!isAbsent(body.max_tokens) && !isAbsent(body.max_completion_tokens)) {
    refuse(
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      'max_tokens',
    )
  }
  if (body.logprobs === true)
    refuse('logprobs: the strict vendor has none', 'logprobs', 'unsupported_parameter')
}

function checkMessages(messages: Json[]): void {
  let pending = new Set<string>()
  for (const [at, message] of messages.entries()) {
    const path = `messages[${at}]`
    const role = expectOneOf(message.role, `${path}.role`, roles)
    if (pending.size > 0 && role !== 'tool') refuseUnanswered(pending, path)
    switch (role) {
      case 'assistant':
        pending = readCallIds(message, path)
        break
      case 'tool':
        checkContent(message.content, `${path}.content`, ['text'])
        if (!pending.delete(expectText(message.tool_call_id, `${path}.tool_call_id`))) {
          refuse(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
            `${path}.role`,
          )
        }
        break
      case 'user':
        checkContent(message.content, `${path}.content`, ['text', 'image_url', 'input_audio', 'file'])
        break
      case 'function':
        expectText(message.name, `${path}.name`)
        break
      default:
        checkContent(message.content, `${path}.content`, ['text'])
    }
  }
  if (pending.size > 0) refuseUnanswered(pending, 'messages')
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function']

function refuseUnanswered(ids: Set<string>, path: string): never {
  refuse(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...ids].join(', ')}`,
    path,
  )
}

/** Checks an assistant's message and returns the ids of its calls. */
function readCallIds(message: Json, path: string): Set<string> {
  const { content, tool_calls: toolCalls } = message
  if (!isAbsent(content)) checkContent(content, `${path}.content`, ['text', 'refusal'])
  const hasCalls = !isAbsent(toolCalls)
  if (isAbsent(content) && !hasCalls && !message.function_call && !message.refusal && !message.audio) {
    refuse(`${path}.content: expected a string, got null`, `${path}.content`)
  }
  if (!hasCalls) return new Set()
  const ids = new Set<string>()
  for (const [at, call] of expectFilled(toolCalls, `${path}.tool_calls`).entries()) {
    const callPath = `${path}.tool_calls[${at}]`
    const id = expectText(call.id, `${callPath}.id`)
    if (id.length > 40)
      refuse(`${callPath}.id: expected at most 40 characters, got ${id.length}`, `${callPath}.id`)
    if (ids.has(id)) refuse(`${callPath}.id: given twice`, `${callPath}.id`)
    ids.add(id)
    const kind = expectOneOf(call.type, `${callPath}.type`, ['function', 'custom']) ?? 'function'
    const inner = expectObject(call[kind], `${callPath}.${kind}`)
    checkName(inner.name, `${callPath}.${kind}.name`)
    const text = kind === 'custom' ? 'input' : 'arguments'
    expectText(inner[text], `${callPath}.${kind}.${text}`)
  }
  return ids
}

function checkContent(content: unknown, path: string, types: readonly string[]): void {
  if (typeof content === 'string') return
  for (const [at, part] of expectFilled(content, path).entries()) {
    const partPath = `${path}[${at}]`
    const type = expectOneOf(part.type, `${partPath}.type`, types)
    if (type === 'text') expectText(part.text, `${partPath}.text`)
    if (type === 'image_url') {
      const image = expectObject(part.image_url, `${partPath}.image_url`)
      const url = expectText(image.url, `${partPath}.image_url.url`)
      if (!/^(https?:|data:image\/(png|jpeg|jpg|gif|webp);base64,)/.test(url)) {
        refuse(
          `${partPath}.image_url.url: expected an address or a data URL of an image`,
          `${partPath}.image_url.url`,
        )
      }
    }
    if (type === 'file') expectObject(part.file, `${partPath}.file`)
    if (type === 'input_audio') expectObject(part.input_audio, `${partPath}.input_audio`)
  }
}

function checkName(name: unknown, path: string): void {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(expectText(name, path))) {
    refuse(
      `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      path,
    )
  }
}

function readTools(tools: unknown): Tool[] {
  if (isAbsent(tools)) return []
  return expectFilled(tools, 'tools').map((tool, at) => {
    const path = `tools[${at}]`
    const kind =
      expectOneOf(tool.type, `${path}.type`, ['function', 'custom']) === 'custom' ? 'custom' : 'function'
    const inner = expectObject(tool[kind], `${path}.${kind}`)
    checkName(inner.name, `${path}.${kind}.name`)
    const name = expectText(inner.name, `${path}.${kind}.name`)
    if (inner.strict === true) checkStrictSchema(inner.parameters, `${path}.function.parameters`)
    return { name, kind, parameters: inner.parameters }
  })
}

function readChoice(choice: unknown): ToolChoice {
  if (!isRecord(choice)) {
    const mode = expectOneOf(choice, 'tool_choice', ['none', 'auto', 'required'])
    return { mode: mode === 'none' || mode === 'required' ? mode : 'auto', only: undefined, isForced: false }
  }
  if (choice.type !== 'allowed_tools') return { mode: 'required', only: [nameOf(choice)], isForced: true }
  const allowed = expectObject(choice.allowed_tools, 'tool_choice.allowed_tools')
  const mode = allowed.mode === 'required' ? 'required' : 'auto'
  return { mode, only: recordsOf(allowed.tools).map(nameOf), isForced: false }
}

function nameOf(tool: Json): string {
  const inner = tool.type === 'custom' ? tool.custom : tool.function
  return isRecord(inner) && typeof inner.name === 'string' ? inner.name : ''
}

function readFormat(format: unknown): Question['format'] {
  if (!isRecord(format)) return { type: 'text' }
  const type = expectOneOf(format.type, 'response_format.type', ['text', 'json_object', 'json_schema'])
  if (type === 'json_object') return { type: 'object' }
  if (type !== 'json_schema') return { type: 'text' }
  const declared = expectObject(format.json_schema, 'response_format.json_schema')
  checkName(declared.name, 'response_format.json_schema.name')
  if (declared.strict === true) checkStrictSchema(declared.schema, 'response_format.json_schema.schema')
  return { type: 'schema', schema: declared.schema ?? {} }
}

function readStop(stop: unknown): string[] {
  if (isAbsent(stop)) return []
  const stops = Array.isArray(stop) ? stop : [stop]
  if (stops.length > 4) refuse('stop: expected at most 4 sequences', 'stop')
  return stops.map((text, at) => expectText(text, `stop[${at}]`))
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return recordsOf(content).map(wordsOf).join(' ')
}

function wordsOf(part: Json): string {
  if (typeof part.text === 'string') return part.text
  if (isRecord(part.image_url)) return mediaWords('image', mediaOfUrl(String(part.image_url.url)))
  if (isRecord(part.file)) {
    const data = part.file.file_data
    return mediaWords('document', typeof data === 'string' ? mediaOfUrl(data) : {})
  }
  if (isRecord(part.input_audio)) {
    return mediaWords('audio', { mediaType: part.input_audio.format, data: part.input_audio.data })
  }
  return `[${part.type}]`
}
