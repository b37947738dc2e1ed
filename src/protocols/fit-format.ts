import type { AnswerFormat, ChatRequest, Turn } from '../canonical/chat.ts'
import type { Traits } from '../canonical/traits.ts'
import { isInstruction } from './fit-content.ts'
import { isForced } from './fit-tools.ts'
import { jsonOnly } from './json-instruction.ts'
import type { Notes } from './notes.ts'
import { removedText, rewriteSchema } from './schema-subset.ts'

/**
 * Requests the answer's format in a way that the model supports: with a suitable schema or with an
 * instruction.
 */
export function fitFormat(request: ChatRequest, traits: Traits, notes: Notes): Partial<ChatRequest> {
  const { format, tools, webSearch, toolChoice } = request
  if (format === undefined) return {}
  const hasTools = webSearch !== undefined || tools.some((tool) => tool.type !== 'hosted')
  if (hasTools && traits.toolsWithFormat === false) {
    // A refusal would stop every agent that wants JSON at the end. With the instruction, it can continue.
    noteInstruction(notes, 'the model does not support tools together with a JSON format')
    return { format: undefined, turns: instructed(request, format) }
  }
  if (hasTools && traits.forcedToolsWithFormat === false && isForced(toolChoice)) {
    noteInstruction(notes, 'the model does not support forced calls together with a JSON format')
    return { format: undefined, turns: instructed(request, format) }
  }
  if (format.type === 'json_object') {
    if (traits.jsonMode !== false) return {}
    noteInstruction(notes, 'the model has no JSON mode')
    return { format: undefined, turns: instructed(request, format) }
  }
  if (traits.schema === 'none') {
    return asInstruction(request, format, traits, notes, 'the model does not support a schema for its answer')
  }
  return fitSchema(request, format, traits, notes)
}

type SchemaFormat = Extract<AnswerFormat, { type: 'json_schema' }>

/** Uses JSON mode if the model is known to support it. */
function asInstruction(
  request: ChatRequest,
  format: SchemaFormat,
  { jsonMode }: Traits,
  notes: Notes,
  reason: string,
): Partial<ChatRequest> {
  noteInstruction(notes, reason)
  return {
    format: jsonMode === true ? { type: 'json_object' } : undefined,
    turns: instructed(request, format),
  }
}

function noteInstruction(notes: Notes, reason: string): void {
  notes.add('emulated', notes.pathOf('format'), `${reason}: an instruction requests it`)
}

/** Adds an instruction after the instructions at the beginning of the conversation. */
function instructed({ turns, tools }: ChatRequest, format: AnswerFormat): Turn[] {
  const path = turns[0]?.path ?? ''
  const text = instructionFor(format, tools.length > 0)
  const turn: Turn = { role: 'system', blocks: [{ type: 'text', text, path }], path }
  const firstSpoken = turns.findIndex((turn) => !isInstruction(turn))
  const at = firstSpoken === -1 ? turns.length : firstSpoken
  return [...turns.slice(0, at), turn, ...turns.slice(at)]
}

function instructionFor(format: AnswerFormat, hasTools: boolean): string {
  const instruction = jsonOnly('object', hasTools)
  if (format.type === 'json_object') return instruction
  const lines = [instruction, 'The object must obey this JSON Schema:', JSON.stringify(format.schema)]
  if (format.description !== undefined) lines.push(`Description of the object: ${format.description}`)
  return lines.join('\n')
}

function fitSchema(
  request: ChatRequest,
  format: SchemaFormat,
  traits: Traits,
  notes: Notes,
): Partial<ChatRequest> {
  const subset = traits.schema
  if (subset === undefined || subset === 'any' || subset === 'none') return {}
  // OpenAI checks the schema only for strict formats.
  if (subset === 'openai-strict' && format.strict !== true) return {}
  const { schema, removed, fits } = rewriteSchema(format.schema, subset)
  const path = notes.pathOf('format')
  if (fits) {
    if (removed.length > 0) notes.add('emulated', path, removedText(removed))
    return { format: { ...format, schema } }
  }
  if (subset === 'openai-strict') {
    notes.add('emulated', path, 'the model sees the schema, but the vendor cannot enforce it')
    return { format: { ...format, strict: undefined } }
  }
  return asInstruction(request, format, traits, notes, 'the vendor cannot enforce this schema')
}
