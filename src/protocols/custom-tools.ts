import type { CustomTool } from '../canonical/chat.ts'
import { isRecord, type Json, parseObject, textOf } from '../canonical/json.ts'
import type { Members } from './members.ts'

/**
 * A custom tool as a function with one text parameter, for formats without custom tools. The description has
 * the grammar.
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
 * The format of a custom tool's input, in a member `format`: `{ type: 'grammar', syntax, definition }`.
 * Undefined for any text.
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

/** A custom tool's input as the arguments of that function. */
export function wrapCustomInput(input: string): Json {
  return { input }
}

/**
 * The custom tool's input from the arguments of that function. Arguments of another shape are the input
 * themselves.
 */
export function unwrapCustomInput(argumentsText: string): string {
  const input = parseObject(argumentsText)?.input
  return typeof input === 'string' ? input : argumentsText
}

/**
 * `format` is `{ type: 'grammar', syntax, definition }`, or the same one level deeper, as in Chat
 * Completions.
 */
function grammarOf(format: Json | undefined): string | undefined {
  const grammar = isRecord(format?.grammar) ? format.grammar : format
  const definition = textOf(grammar?.definition)
  if (definition === undefined) return undefined
  const syntax = textOf(grammar?.syntax) ?? 'following'
  return `The input must obey this grammar (${syntax}):\n${definition}`
}
