import type { CustomTool } from '../canonical/chat.ts'
import { isRecord, type Json, parseObject, textOf } from '../canonical/json.ts'

/** A custom tool, for formats that know only functions: one text parameter, the grammar in words. */
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

/** A custom tool's input as the arguments of that function. */
export function wrapCustomInput(input: string): Json {
  return { input }
}

/** The custom tool's input in the arguments of that function; arguments of another shape are taken as they are. */
export function unwrapCustomInput(argumentsText: string): string {
  const input = parseObject(argumentsText)?.input
  return typeof input === 'string' ? input : argumentsText
}

/** `{ type: 'grammar', syntax, definition }`, or the same one level deeper, as Chat has it. */
function grammarOf(format: Json | undefined): string | undefined {
  const grammar = isRecord(format?.grammar) ? format.grammar : format
  const definition = textOf(grammar?.definition)
  if (definition === undefined) return undefined
  const syntax = textOf(grammar?.syntax) ?? 'following'
  return `The input must obey this grammar (${syntax}):\n${definition}`
}
