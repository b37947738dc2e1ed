import { isRecord, type Json, recordsOf } from '../../canonical/json.ts'
import type { Usage } from '../../canonical/usage.ts'

/** What a tool's name may be made of. */
export const nameRules = { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 64 }

/** What a call's id may be made of. Chat Completions allows 40 characters, and histories wander between the two. */
export const callIdRules = { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 40 }

/** Ask for reasoning in a form that can be sent back, as nothing is stored. */
export const encryptedReasoning = 'reasoning.encrypted_content'

/** How a client's own search for tools is called where it has to be a function. */
export const searchToolName = 'tool_search'

/** The upstream's counts, in which cached and reasoning tokens are parts of the totals; undefined for none, or zeros. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined
  const total = count(value.input_tokens)
  const input = isRecord(value.input_tokens_details) ? value.input_tokens_details : {}
  const output = isRecord(value.output_tokens_details) ? value.output_tokens_details : {}
  const cacheRead = Math.min(count(input.cached_tokens), total)
  const cacheWrite = Math.min(count(input.cache_write_tokens), total - cacheRead)
  const totalOut = count(value.output_tokens)
  if (total + totalOut === 0) return undefined
  const reasoning = Math.min(count(output.reasoning_tokens), totalOut)
  return {
    input: total - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output: totalOut - reasoning,
    reasoning,
  }
}

/** `usage` of an answer: null for what nobody told. */
export function writeUsage(usage: Usage | undefined): Json | null {
  if (usage === undefined) return null
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  const output = usage.output + usage.reasoning
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  }
}

/**
 * Whether the client searches tools by itself: it lists `tool_search` and answers its calls. Such a call is a function
 * call for every other format, and has to be given back as what it was.
 */
export function searchesTools(body: Json): boolean {
  const isSearch = (tool: Json) => tool.type === 'tool_search' && tool.execution === 'client'
  if (recordsOf(body.tools).some(isSearch)) return true
  return recordsOf(body.input).some(
    (item) => item.type === 'additional_tools' && recordsOf(item.tools).some(isSearch),
  )
}

/** A whole number that is not negative; 0 for anything else. */
function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0
}
