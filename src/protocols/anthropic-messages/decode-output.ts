import { type AnswerFormat, type ReasoningOptions, reasoningEfforts } from '../../canonical/chat.ts'
import { invalid } from '../../canonical/field-error.ts'
import { isRecord } from '../../canonical/json.ts'
import type { Members } from '../members.ts'

/** The reasoning and the format that the client requests. */
export interface WantedOutput {
  reasoning: ReasoningOptions | undefined
  format: AnswerFormat | undefined
  /** The member that sets the reasoning. */
  reasoningName: string
  /** The member that sets the format. */
  formatName: string
}

/** Decodes `thinking`, `output_config` and the older `output_format`. */
export function decodeOutput(body: Members): WantedOutput {
  const config = body.members('output_config')
  const thinking = readThinking(body)
  const effort = config?.word('effort', reasoningEfforts)
  const older = body.members('output_format')
  const newer = config?.members('format')
  const format = readFormat(newer ?? older)
  if (newer !== undefined) body.drop('output_format', '"output_config.format" takes precedence')
  const formatName = newer === undefined && older !== undefined ? 'output_format' : 'output_config.format'
  config?.noteRest({ task_budget: 'other formats have no task budget' })
  if (effort !== undefined && thinking?.effort === 'none') {
    config?.drop('effort', 'in other formats, the effort applies only to thinking, which is disabled')
    return { reasoning: thinking, format, reasoningName: 'thinking', formatName }
  }
  const reasoning =
    thinking === undefined && effort === undefined
      ? undefined
      : { budgetTokens: undefined, summary: undefined, ...thinking, effort: effort ?? thinking?.effort }
  return {
    reasoning,
    format,
    reasoningName: thinking === undefined ? 'output_config.effort' : 'thinking',
    formatName,
  }
}

function readThinking(body: Members): ReasoningOptions | undefined {
  const thinking = body.members('thinking')
  if (thinking === undefined) return undefined
  const type = thinking.requiredWord('type', ['enabled', 'adaptive', 'disabled', 'between_tools'])
  const budgetTokens = thinking.number('budget_tokens')
  const display = thinking.text('display')
  if (display !== undefined && display !== 'summarized' && display !== 'omitted') {
    thinking.drop('display', 'other formats show either a summary of the reasoning or nothing')
  }
  thinking.noteRest()
  const summary = display === 'summarized' ? 'auto' : display === 'omitted' ? 'none' : undefined
  switch (type) {
    case 'enabled':
      return { effort: undefined, budgetTokens, summary }
    case 'adaptive':
      return { effort: undefined, budgetTokens: undefined, summary }
    case 'disabled':
      return { effort: 'none', budgetTokens: undefined, summary: undefined }
    case 'between_tools':
      thinking.drop(
        'type',
        'other formats cannot limit thinking to the time between tool calls: the model decides when to think',
      )
      return { effort: undefined, budgetTokens: undefined, summary }
  }
}

function readFormat(format: Members | undefined): AnswerFormat | undefined {
  if (format === undefined) return undefined
  if (format.any('type') !== 'json_schema')
    throw invalid(format.pathOf('type'), 'expected "json_schema", the only supported format')
  const schema = format.requiredObject('schema')
  format.noteRest()
  return {
    type: 'json_schema',
    name: undefined,
    description: undefined,
    schema,
    // This vendor always enforces the schema. Other vendors enforce only closed schemas.
    strict: isClosed(schema) ? true : undefined,
  }
}

/** Whether each object in a schema requires all its properties and allows no others. */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed)
  if (!isRecord(schema)) return true
  if (isRecord(schema.properties)) {
    const required: unknown[] = Array.isArray(schema.required) ? schema.required : []
    if (schema.additionalProperties !== false) return false
    if (!Object.keys(schema.properties).every((name) => required.includes(name))) return false
  } else if (schema.type === 'object') return false
  return Object.values(schema).every(isClosed)
}
