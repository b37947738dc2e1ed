import { isRecord, type Json, recordsOf } from '../../../../src/canonical/json.ts'
import { isAbsent, refuse } from '../check.ts'
import { checkClaudeSchema } from './claude-schema.ts'

/**
 * What one Claude refuses and another takes, by the model's name. Throws Refusal. Other names have no such rules.
 *
 * https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5 (words about thinking),
 * https://github.com/anomalyco/opencode/issues/23007, https://github.com/anomalyco/opencode/issues/13768 (prefill),
 * https://github.com/RooCodeInc/Roo-Code/issues/12162 (sampling),
 * https://github.com/SalesforceAIResearch/MCP-Universe/issues/49 (both samplers), read 2026-11-22. The words about `effort`,
 * strict tools, formats and forced tools are ours: only the refusal itself is documented.
 */
export function checkClaude(body: Json, model: string): void {
  const claude = claudeOf(model)
  if (claude === undefined) return
  checkSampling(body, claude)
  checkThinking(body, claude)
  checkEffort(body, claude)
  checkConversation(body, claude)
  checkSchemas(body, claude)
  checkForcedTools(body, claude)
  if (typeof body.max_tokens === 'number' && body.max_tokens > claude.tokensMax) {
    refuse(
      `max_tokens: ${body.max_tokens} > ${claude.tokensMax}, which is the maximum allowed number of output tokens for ${model}`,
    )
  }
}

interface Claude {
  line: string
  /** 4.8 for Opus 4.8. */
  version: number
  tokensMax: number
}

function claudeOf(model: string): Claude | undefined {
  const name = model.toLowerCase()
  const modern = /claude-(opus|sonnet|haiku|fable|mythos)-(\d)(?:[.-](\d)(?!\d))?/.exec(name)
  if (modern !== null) {
    const [, line = '', major = '', minor = '0'] = modern
    const version = Number(`${major}.${minor}`)
    return { line, version, tokensMax: tokensMaxOf(line, version) }
  }
  const old = /claude-3(?:[.-](\d))?-(opus|sonnet|haiku)/.exec(name)
  if (old === null) return undefined
  const [, minor = '0', line = ''] = old
  const tokensMax = minor === '7' ? 64_000 : minor === '5' ? 8192 : 4096
  return { line, version: Number(`3.${minor}`), tokensMax }
}

function tokensMaxOf(line: string, version: number): number {
  if (version >= 4.6) return 128_000
  return line === 'opus' && version < 4.5 ? 32_000 : 64_000
}

const hasNoSampling = ({ line, version }: Claude) => version >= 5 || (line === 'opus' && version >= 4.7)
const alwaysThinks = ({ line, version }: Claude) =>
  line === 'fable' || line === 'mythos' || (version >= 5.5 && line !== 'haiku')

function checkSampling(body: Json, claude: Claude): void {
  if (hasNoSampling(claude)) {
    for (const name of ['temperature', 'top_p', 'top_k']) {
      if (!isAbsent(body[name])) refuse(`\`${name}\` is deprecated for this model.`)
    }
  }
  const takesOne =
    claude.version >= 4.5 ? claude.version < 4.7 : claude.line === 'opus' && claude.version >= 4.1
  if (takesOne && !isAbsent(body.temperature) && !isAbsent(body.top_p)) {
    refuse('`temperature` and `top_p` cannot both be specified for this model. Please use only one.')
  }
}

function checkThinking(body: Json, claude: Claude): void {
  const type = isRecord(body.thinking) ? body.thinking.type : undefined
  const instead = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
  if (type === 'enabled' && hasNoSampling(claude)) {
    refuse(`"thinking.type.enabled" is not supported for this model. ${instead}`)
  }
  if (type === 'disabled' && alwaysThinks(claude)) {
    refuse(`"thinking.type.disabled" is not supported for this model. ${instead}`)
  }
  if (type === 'adaptive' && claude.version < 4.6) {
    refuse('thinking.type: adaptive thinking is not supported on this model')
  }
  if (type === 'enabled' && claude.version < 3.7) refuse('thinking: this model does not support thinking')
}

function checkEffort(body: Json, { line, version }: Claude): void {
  const effort = isRecord(body.output_config) ? body.output_config.effort : undefined
  if (isAbsent(effort)) return
  if (version < 4.6 && !(line === 'opus' && version === 4.5)) {
    refuse('output_config.effort: This model does not support the effort parameter.')
  }
  if (effort === 'xhigh' && version < 4.7)
    refuse("output_config.effort: 'xhigh' is not supported for this model")
  if (effort === 'max' && version < 4.6) refuse("output_config.effort: 'max' is not supported for this model")
  const isOff = isRecord(body.thinking) && body.thinking.type === 'disabled'
  if (isOff && version >= 5 && (effort === 'xhigh' || effort === 'max') && line !== 'sonnet') {
    refuse('thinking: thinking can be disabled only at effort `high` or below')
  }
}

function checkConversation(body: Json, { line, version }: Claude): void {
  const turns = recordsOf(body.messages)
  const speaks = turns.filter(({ role }) => role !== 'system')
  if (version >= 4.6 && speaks.at(-1)?.role === 'assistant') {
    refuse(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    )
  }
  const takesInstructions = version >= 5 || (line === 'opus' && version >= 4.8)
  const at = turns.findIndex(({ role }) => role === 'system')
  if (at !== -1 && !takesInstructions) refuse(`messages.${at}.role: Input should be 'user' or 'assistant'`)
}

function checkSchemas(body: Json, { line, version }: Claude): void {
  const canHoldTo = version >= 4.5 || (line === 'opus' && version >= 4.1)
  const format = isRecord(body.output_config) ? body.output_config.format : undefined
  if (isRecord(format)) {
    if (!canHoldTo) refuse('output_config.format: structured outputs are not supported for this model')
    checkClaudeSchema(format.schema, 'output_config.format.schema')
  }
  for (const [at, tool] of recordsOf(body.tools).entries()) {
    if (tool.strict !== true) continue
    if (!canHoldTo) refuse(`tools.${at}.custom.strict: strict tools are not supported for this model`)
    checkClaudeSchema(tool.input_schema, `tools.${at}.custom.input_schema`)
  }
}

function checkForcedTools(body: Json, { line, version }: Claude): void {
  const type = isRecord(body.tool_choice) ? body.tool_choice.type : undefined
  if (type !== 'any' && type !== 'tool') return
  if (version >= 5.5 && line !== 'haiku') refuse(`tool_choice: "${type}" is not supported for this model`)
  if (version > 5 && (line === 'fable' || line === 'mythos')) {
    refuse(`tool_choice: "${type}" is not supported for this model`)
  }
  const isTold = isRecord(body.thinking) && body.thinking.type === 'adaptive'
  if (isTold && line !== 'fable' && line !== 'mythos') {
    refuse('Thinking may not be enabled when tool_choice forces tool use.')
  }
}
