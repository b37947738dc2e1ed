import type { AnswerFormat, ChatRequest } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { jsonOnly } from '../json-instruction.ts'
import type { Notes } from '../notes.ts'
import type { EncodeContext } from '../protocol.ts'
import { removedText, rewriteSchema } from '../schema-subset.ts'

/**
 * Returns `output_config.format`, or adds an instruction to `system` if the model does not support the
 * format.
 */
export function encodeFormat(
  { format, tools }: ChatRequest,
  { traits, upstreamModel }: EncodeContext,
  system: Json[],
  notes: Notes,
): Json | undefined {
  if (format === undefined) return undefined
  const path = notes.pathOf('format')
  const subset = traits.schema ?? 'anthropic'
  const hasTools = tools.length > 0
  const isBarred = subset === 'none' || (traits.toolsWithFormat === false && hasTools)
  if (format.type === 'json_object') {
    system.push(text(jsonOnly('object', hasTools)))
    const asks = 'the Messages format has no JSON mode: an instruction requests a JSON object'
    // No other subset can express an object with arbitrary keys.
    if (subset === 'any' && !isBarred) {
      notes.add('emulated', path, `${asks}, and a schema for an arbitrary object enforces it`)
      return { type: 'json_schema', schema: { type: 'object' } }
    }
    notes.add('emulated', path, `${asks}, which the model may not follow`)
    return undefined
  }
  const asked = described(format)
  const { schema, removed, fits } = rewriteSchema(asked, subset)
  if (isBarred || !fits) {
    system.push(
      text(
        `${jsonOnly('value', hasTools)} It must be valid against this JSON Schema:\n${JSON.stringify(asked)}`,
      ),
    )
    const why = isBarred
      ? `the model ${upstreamModel} does not support a schema here`
      : 'schemas in the Messages format do not support recursion, arbitrary keys or values of any type'
    notes.add('emulated', path, `${why}: an instruction contains the schema, which the model may not follow`)
    return undefined
  }
  if (removed.length > 0) notes.add('emulated', path, removedText(removed))
  if (format.name !== undefined) notes.add('mapped', path, 'schemas in the Messages format have no name')
  if (format.strict === false) {
    notes.add('mapped', path, 'the Messages format enforces every schema')
  }
  return { type: 'json_schema', schema }
}

function described({ schema, description }: Extract<AnswerFormat, { type: 'json_schema' }>): Json {
  return description === undefined || 'description' in schema ? schema : { ...schema, description }
}

function text(words: string): Json {
  return { type: 'text', text: words }
}
