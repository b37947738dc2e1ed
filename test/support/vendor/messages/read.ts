import { isRecord, type Json, recordsOf, textOf } from '../../../../src/canonical/json.ts'
import {
  expectFilled,
  expectInteger,
  expectNumber,
  expectObject,
  expectOneOf,
  expectText,
  isAbsent,
  kindOf,
  refuse,
  refuseUnknown,
} from '../check.ts'
import type { Call } from '../dialect.ts'
import { type Question, type Tool, type ToolChoice, tokensOf } from '../question.ts'
import { checkClaude } from './claude.ts'
import { checkSearchTool, isSearchTool } from './search.ts'
import { checkTurns, wordsOf } from './turns.ts'

/**
 * Reads a `/messages` body by the vendor's rules. Throws Refusal.
 *
 * https://docs.claude.com/en/api/messages, read 2026-11-21
 */
export function readMessages({ body, headers, isCount }: Call): Question {
  const version = headers['anthropic-version']
  if (version === undefined) refuse('anthropic-version: header is required')
  if (version !== '2023-06-01' && version !== '2026-10-21') {
    refuse(`anthropic-version: "${String(version).slice(0, 40)}" is not a valid version`)
  }
  const isNew = version === '2026-10-21'
  const known = isNew ? members : [...members, 'temperature', 'top_p', 'top_k']
  refuseUnknown(body, known, (name) => `${name}: Extra inputs are not permitted`)
  const model = textOf(body.model)
  if (model === undefined) refuse('model: Field required')
  const maxTokens = isCount ? 1 : expectInteger(body.max_tokens, 'max_tokens', 1)
  if (maxTokens === undefined) refuse('max_tokens: Field required')
  const turns = expectFilled(body.messages, 'messages')
  const tools = isAbsent(body.tools) ? [] : readTools(body.tools)
  if (!isAbsent(body.tool_choice) && isAbsent(body.tools))
    refuse('tool_choice: may only be specified while providing tools')
  const thinking = readThinking(body, isCount ? Number.POSITIVE_INFINITY : maxTokens)
  const thoughtsKnown = checkTurns(turns, { model, wantsThoughtFirst: thinking === 'enabled' })
  checkSettings(body)
  checkCacheHints(body)
  checkClaude(body, model)

  const user = turns.findLast(({ role }) => role === 'user')
  const last = recordsOf(turns.findLast(({ role }) => role !== 'system')?.content)
  const results = last.filter(({ type }) => type === 'tool_result')
  const hasNewText = last.some(({ type }) => type !== 'tool_result')
  return {
    model,
    stream: body.stream === true,
    choices: 1,
    text: wordsOf(user?.content),
    results: hasNewText ? [] : results.map(resultOf),
    turns: turns.length,
    tools,
    choice: readChoice(body.tool_choice),
    isParallel: !(isRecord(body.tool_choice) && body.tool_choice.disable_parallel_tool_use === true),
    format: asInstructed(readFormat(body.output_config), body.system),
    tokensMax: maxTokens,
    stop: Array.isArray(body.stop_sequences)
      ? body.stop_sequences.filter((text) => typeof text === 'string')
      : [],
    thinks: thinking === 'enabled' || thinking === 'adaptive',
    thoughtsKnown,
    promptTokens: tokensOf(turns, body.system, body.tools),
  }
}

const members = [
  ...[
    'model',
    'max_tokens',
    'messages',
    'system',
    'stop_sequences',
    'stream',
    'tools',
    'tool_choice',
    'thinking',
  ],
  ...['output_config', 'cache_control', 'container', 'context_management', 'diagnostics', 'inference_geo'],
  ...['mcp_servers', 'metadata', 'service_tier', 'speed'],
]

function checkSettings(body: Json): void {
  expectNumber(body.temperature, 'temperature', 0, 1)
  expectNumber(body.top_p, 'top_p', 0, 1)
  expectInteger(body.top_k, 'top_k', 0)
  expectOneOf(body.service_tier, 'service_tier', ['auto', 'standard_only'])
  if (!isAbsent(body.metadata)) {
    const metadata = expectObject(body.metadata, 'metadata')
    refuseUnknown(metadata, ['user_id'], (name) => `metadata.${name}: Extra inputs are not permitted`)
  }
  if (!isAbsent(body.stop_sequences)) {
    if (!Array.isArray(body.stop_sequences))
      refuse(`stop_sequences: Input should be a valid list, got ${kindOf(body.stop_sequences)}`)
    for (const [at, text] of body.stop_sequences.entries()) {
      if (expectText(text, `stop_sequences.${at}`).trim() === '') {
        refuse('stop_sequences: each stop sequence must contain non-whitespace')
      }
    }
  }
  if (isAbsent(body.system) || typeof body.system === 'string') return
  for (const [at, block] of expectFilled(body.system, 'system').entries()) {
    expectOneOf(block.type, `system.${at}.type`, ['text'])
    if (expectText(block.text, `system.${at}.text`) === '')
      refuse('system: text content blocks must be non-empty')
  }
}

/** The type of thinking. Throws Refusal when other settings do not allow it. */
function readThinking(body: Json, maxTokens: number): string | undefined {
  if (isAbsent(body.thinking)) return undefined
  const thinking = expectObject(body.thinking, 'thinking')
  const type = expectOneOf(thinking.type, 'thinking.type', [
    'enabled',
    'adaptive',
    'disabled',
    'between_tools',
  ])
  if (type !== 'enabled') return type
  const budget = expectInteger(thinking.budget_tokens, 'thinking.enabled.budget_tokens', 0)
  if (budget === undefined) refuse('thinking.enabled.budget_tokens: Field required')
  if (budget < 1024) refuse('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024')
  if (budget >= maxTokens) refuse('`max_tokens` must be greater than `thinking.budget_tokens`.')
  if (!isAbsent(body.temperature) && body.temperature !== 1) {
    refuse('`temperature` may only be set to 1 when thinking is enabled.')
  }
  if (!isAbsent(body.top_k)) refuse('`top_k` must be unset when thinking is enabled.')
  if (typeof body.top_p === 'number' && body.top_p < 0.95) {
    refuse('`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.')
  }
  if (isRecord(body.tool_choice) && (body.tool_choice.type === 'any' || body.tool_choice.type === 'tool')) {
    refuse('Thinking may not be enabled when tool_choice forces tool use.')
  }
  return type
}

function readTools(value: unknown): Tool[] {
  const names = new Set<string>()
  return expectFilled(value, 'tools').flatMap((tool, at) => {
    const path = `tools.${at}`
    // Tools that the vendor runs itself have a date in their type. It accepts them and calls only its web search.
    if (isSearchTool(tool)) {
      checkSearchTool(tool, path)
      if (names.has(String(tool.name))) refuse('tools: Tool names must be unique.')
      names.add(String(tool.name))
    }
    if (!isAbsent(tool.type) && tool.type !== 'custom') return []
    const name = expectText(tool.name, `${path}.custom.name`)
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
      refuse(`${path}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
    }
    if (names.has(name)) refuse('tools: Tool names must be unique.')
    names.add(name)
    if (!isRecord(tool.input_schema)) refuse(`${path}.custom.input_schema: Field required`)
    if (tool.input_schema.type !== 'object')
      refuse(`${path}.custom.input_schema.type: Input should be 'object'`)
    return [{ name, kind: 'function' as const, parameters: tool.input_schema }]
  })
}

function readChoice(choice: unknown): ToolChoice {
  const auto: ToolChoice = { mode: 'auto', only: undefined, isForced: false }
  if (isAbsent(choice)) return auto
  const { type, name } = expectObject(choice, 'tool_choice')
  switch (expectOneOf(type, 'tool_choice.type', ['auto', 'any', 'tool', 'none'])) {
    case 'any':
      return { ...auto, mode: 'required' }
    case 'none':
      return { ...auto, mode: 'none' }
    case 'tool':
      if (name === 'web_search') return auto
      return { mode: 'required', only: [expectText(name, 'tool_choice.name')], isForced: true }
    default:
      return auto
  }
}

function readFormat(config: unknown): Question['format'] {
  if (isAbsent(config)) return { type: 'text' }
  const { effort, format } = expectObject(config, 'output_config')
  expectOneOf(effort, 'output_config.effort', ['low', 'medium', 'high', 'xhigh', 'max'])
  if (isAbsent(format)) return { type: 'text' }
  const { type, schema, ...rest } = expectObject(format, 'output_config.format')
  refuseUnknown(rest, [], (name) => `output_config.format.${name}: Extra inputs are not permitted`)
  if (expectOneOf(type, 'output_config.format.type', ['json_schema']) === undefined) {
    refuse('output_config.format.type: Field required')
  }
  return { type: 'schema', schema: expectObject(schema, 'output_config.format.schema') }
}

/** A model does what it is told: it answers with an object where the system prompt demands one. */
function asInstructed(format: Question['format'], system: unknown): Question['format'] {
  const isDemanded = /with one JSON object and nothing else/.test(JSON.stringify(system ?? ''))
  return format.type === 'text' && isDemanded ? { type: 'object' } : format
}

const cacheHintsMax = 4

function checkCacheHints(body: Json): void {
  const blocks = [body.system, body.tools, ...recordsOf(body.messages).map(({ content }) => content)].flatMap(
    recordsOf,
  )
  const inner = blocks.flatMap(({ content }) => recordsOf(content))
  const count = [body, ...blocks, ...inner].filter(({ cache_control: hint }) => !isAbsent(hint)).length
  if (count <= cacheHintsMax) return
  refuse(`A maximum of ${cacheHintsMax} blocks with cache_control may be provided. Found ${count}.`)
}

function resultOf(block: Json): string {
  const words = wordsOf(block.content)
  return block.is_error === true ? `error: ${words}` : words
}
