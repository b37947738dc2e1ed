import type { CustomTool } from '../canonical/chat.ts'
import { isRecord, type Json, parseObject, textOf } from '../canonical/json.ts'
import type { Members } from './members.ts'

/**
 * Converts a custom tool to a function with one text parameter, for formats without custom tools. Its
 * description includes the grammar.
 */
export function customAsFunction({ description, format }: CustomTool): {
  description: string
  parameters: Json
} {
  const lines = [description ?? '', 'Put the whole input, as plain text, into the parameter "input".']
  const grammar = grammarOf(format)
  if (grammar !== undefined) lines.push(grammar)
  return {
    description: lines.filter((line) => line !== '').join('\n\n'),
    parameters: {
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    },
  }
}

/**
 * Reads the format of a custom tool's input from the member `format`: `{ type: 'grammar', syntax, definition
 * }`. Undefined if any text is allowed.
 */
export function readCustomFormat(format: Members): Json | undefined {
  const type = format.any('type')
  if (type === 'text') {
    format.noteRest()
    return undefined
  }
  const read: Json = {}
  for (const name of ['type', 'syntax', 'definition']) {
    const value = format.any(name)
    if (value !== undefined) read[name] = value
  }
  format.noteRest()
  return read
}

/** Converts a custom tool's input to arguments of that function. */
export function wrapCustomInput(input: string): Json {
  return { input }
}

/**
 * Extracts a custom tool's input from the arguments of that function. Arguments of another shape are treated
 * as the input itself.
 */
export function unwrapCustomInput(argumentsText: string): string {
  const input = parseObject(argumentsText)?.input
  return typeof input === 'string' ? input : argumentsText
}

/**
 * Reads the grammar. `format` is `{ type: 'grammar', syntax, definition }`, or the same nested one level
 * deeper, as in Chat Completions.
 */
function grammarOf(format: Json | undefined): string | undefined {
  const grammar = isRecord(format?.grammar) ? format.grammar : format
  const definition = textOf(grammar?.definition)
  if (definition === undefined) return undefined
  const syntax = textOf(grammar?.syntax) ?? 'following'
  return `The input must obey this grammar (${syntax}):\n${definition}`
}
