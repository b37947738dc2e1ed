import {
  type AnswerFormat,
  type ReasoningEffort,
  type ReasoningWish,
  reasoningEfforts,
  type UnmappedField,
} from '../../canonical/chat.ts'
import { isRecord, type Json } from '../../canonical/json.ts'
import { invalid } from '../json-scan.ts'
import { Members, wrong } from './shape.ts'

/** How the model is to think and to write. */
export interface Output {
  reasoning: ReasoningWish | undefined
  format: AnswerFormat | undefined
  /** Which member asked for the reasoning. */
  reasoningName: string
}

/** `thinking`, `output_config` and the older `output_format`. */
export function decodeOutput(members: Members, others: UnmappedField[]): Output {
  const config = new Members(members.object('output_config') ?? {}, 'output_config')
  const thinking = readThinking(members, others)
  const effort = readEffort(config)
  const format = config.object('format') ?? members.object('output_format')
  config.drop(others, { task_budget: 'other formats have no budget for a task' })
  config.rest(others)
  if (effort !== undefined && thinking?.effort === 'none') {
    others.push({
      path: 'output_config.effort',
      verdict: 'drop',
      reason: 'other formats know effort only of thinking, which is disabled',
    })
    return { reasoning: thinking, format: readFormat(format), reasoningName: 'thinking' }
  }
  const reasoning =
    thinking === undefined && effort === undefined
      ? undefined
      : { budgetTokens: undefined, summary: undefined, ...thinking, effort: effort ?? thinking?.effort }
  return {
    reasoning,
    format: readFormat(format),
    reasoningName: thinking === undefined ? 'output_config.effort' : 'thinking',
  }
}

function readThinking(members: Members, others: UnmappedField[]): ReasoningWish | undefined {
  const value = members.object('thinking')
  if (value === undefined) return undefined
  const thinking = new Members(value, 'thinking')
  const type = thinking.requiredText('type')
  const budgetTokens = thinking.number('budget_tokens')
  const display = thinking.text('display')
  thinking.rest(others)
  const summary = display === 'summarized' ? 'auto' : display === 'omitted' ? 'none' : undefined
  switch (type) {
    case 'enabled':
      return { effort: undefined, budgetTokens, summary }
    case 'adaptive':
      return { effort: undefined, budgetTokens: undefined, summary }
    case 'disabled':
      return { effort: 'none', budgetTokens: undefined, summary: undefined }
    case 'between_tools':
      others.push({
        path: 'thinking.type',
        verdict: 'drop',
        reason: 'other formats cannot think between tool calls only: the model decides when',
      })
      return { effort: undefined, budgetTokens: undefined, summary }
    default:
      throw invalid(
        'thinking.type',
        `expected "enabled", "adaptive", "disabled" or "between_tools", got ${JSON.stringify(type.slice(0, 40))}`,
      )
  }
}

function readEffort(config: Members): ReasoningEffort | undefined {
  const told = config.text('effort')
  if (told === undefined) return undefined
  const effort = reasoningEfforts.find((known) => known === told)
  if (effort !== undefined) return effort
  throw invalid(
    'output_config.effort',
    `expected one of ${reasoningEfforts.join(', ')}, got ${JSON.stringify(told.slice(0, 40))}`,
  )
}

function readFormat(format: Json | undefined): AnswerFormat | undefined {
  if (format === undefined) return undefined
  const path = 'output_config.format'
  if (format.type !== 'json_schema')
    throw invalid(`${path}.type`, 'expected "json_schema", the only format known')
  if (!isRecord(format.schema)) throw wrong(`${path}.schema`, 'an object', format.schema)
  return {
    type: 'json_schema',
    name: undefined,
    description: undefined,
    schema: format.schema,
    // The vendor always holds the answer to the schema. Others do so only for schemas that leave nothing open.
    strict: isClosed(format.schema) ? true : undefined,
  }
}

/** Whether every object of a schema lists all that it may have, and demands all of it. */
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
