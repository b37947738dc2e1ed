import { type AnswerFormat, type ReasoningWish, reasoningEfforts } from '../../canonical/chat.ts'
import { invalid, wrongType } from '../../canonical/field-error.ts'
import { isRecord, type Json } from '../../canonical/json.ts'
import type { Members } from '../members.ts'

/** The reasoning and the format that the client wants. */
export interface Output {
  reasoning: ReasoningWish | undefined
  format: AnswerFormat | undefined
  /** The member that asks for the reasoning. */
  reasoningName: string
}

/** `thinking`, `output_config` and the older `output_format`. */
export function decodeOutput(body: Members): Output {
  const config = body.members('output_config')
  const thinking = readThinking(body)
  const effort = config?.word('effort', reasoningEfforts)
  const older = body.object('output_format')
  const format = readFormat(config?.object('format') ?? older)
  config?.noteRest({ task_budget: 'other formats have no budget for a task' })
  if (effort !== undefined && thinking?.effort === 'none') {
    config?.drop('effort', 'other formats have an effort only for thinking, which is disabled')
    return { reasoning: thinking, format, reasoningName: 'thinking' }
  }
  const reasoning =
    thinking === undefined && effort === undefined
      ? undefined
      : { budgetTokens: undefined, summary: undefined, ...thinking, effort: effort ?? thinking?.effort }
  return {
    reasoning,
    format,
    reasoningName: thinking === undefined ? 'output_config.effort' : 'thinking',
  }
}

function readThinking(body: Members): ReasoningWish | undefined {
  const thinking = body.members('thinking')
  if (thinking === undefined) return undefined
  const type = thinking.requiredWord('type', ['enabled', 'adaptive', 'disabled', 'between_tools'])
  const budgetTokens = thinking.number('budget_tokens')
  const display = thinking.text('display')
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
      thinking.drop('type', 'other formats cannot think between tool calls only: the model decides when')
      return { effort: undefined, budgetTokens: undefined, summary }
  }
}

function readFormat(format: Json | undefined): AnswerFormat | undefined {
  if (format === undefined) return undefined
  const path = 'output_config.format'
  if (format.type !== 'json_schema')
    throw invalid(`${path}.type`, 'expected "json_schema", the only format known')
  if (!isRecord(format.schema)) throw wrongType(format.schema, `${path}.schema`, 'an object')
  return {
    type: 'json_schema',
    name: undefined,
    description: undefined,
    schema: format.schema,
    // The vendor always enforces the schema. Other vendors enforce only closed schemas.
    strict: isClosed(format.schema) ? true : undefined,
  }
}

/** Whether every object of a schema requires all its properties and allows no others. */
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
