import type { ChatRequest, ReasoningOptions } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { isForced } from '../fit-tools.ts'
import { type Notes, refused } from '../notes.ts'

/** `generationConfig`: https://ai.google.dev/api/generate-content#generationconfig, read 2026-11-21 */
export function encodeConfig(request: ChatRequest, notes: Notes): Json {
  const config: Json = {
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    seed: request.seed,
    frequencyPenalty: request.frequencyPenalty,
    presencePenalty: request.presencePenalty,
    maxOutputTokens: request.maxOutputTokens,
    stopSequences: request.stop.length === 0 ? undefined : [...request.stop],
    ...encodeFormat(request, notes),
    thinkingConfig: request.reasoning && encodeThinking(request.reasoning, notes),
  }
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))
}

function encodeFormat({ format, toolChoice }: ChatRequest, notes: Notes): Json {
  if (format === undefined) return {}
  // The vendor's error: "Forced function calling (ANY mode) with a response mime type: 'application/json' is
  // unsupported".
  if (isForced(toolChoice)) {
    throw refused(
      notes.pathOf('format'),
      'the Gemini format does not support a JSON format together with a forced tool call',
    )
  }
  if (format.type === 'json_object') return { responseMimeType: 'application/json' }
  const { name, description, schema } = format
  const titled = {
    ...(name === undefined ? {} : { title: name }),
    ...(description === undefined ? {} : { description }),
    ...schema,
  }
  return { responseMimeType: 'application/json', responseJsonSchema: titled }
}

/**
 * Encodes the thinking settings: https://ai.google.dev/gemini-api/docs/thinking, read 2026-11-21. A request
 * can set only one of the two amounts.
 */
function encodeThinking({ effort, budgetTokens, summary }: ReasoningOptions, notes: Notes): Json {
  if (summary === 'concise' || summary === 'detailed') {
    notes.add(
      'mapped',
      notes.pathOf('reasoning'),
      'the Gemini format has only one length of thought summaries',
    )
  }
  const level = effort === undefined || effort === 'none' ? {} : { thinkingLevel: effort.toUpperCase() }
  return {
    ...(budgetTokens === undefined ? level : { thinkingBudget: budgetTokens }),
    includeThoughts: summary !== 'none' && effort !== 'none',
  }
}
