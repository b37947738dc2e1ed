import { countOf, isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { refined } from '../../canonical/price-parts.ts'
import { missingCount, type Usage } from '../../canonical/usage.ts'
import { readCacheCounts } from '../cache-counts.ts'

/** The vendor's rules for tool names. */
export const nameRules = { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 64 }

/**
 * The rules for call ids. Chat Completions allows 40 characters, and clients move histories between the two
 * formats.
 */
export const callIdRules = { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 40 }

/** The name of the client's tool search in formats where it must be a function. */
export const searchToolName = 'tool_search'

/** What an answer reports next to its `usage`. */
export interface BesideUsage {
  /** The `service_tier` of the answer. */
  tier?: unknown
  webSearches?: number
}

/**
 * The upstream's counts, whose totals include cached and reasoning tokens. Undefined if there are none or
 * only zeros.
 */
export function readUsage(value: unknown, { tier, webSearches }: BesideUsage = {}): Usage | undefined {
  if (!isRecord(value)) return undefined
  const all = countOf(value.total_tokens)
  const total = countOf(value.input_tokens) ?? missingCount(all, countOf(value.output_tokens))
  const totalOut = countOf(value.output_tokens) ?? missingCount(all, total)
  if (total === undefined || totalOut === undefined || total + totalOut === 0) return undefined
  const cache = readCacheCounts(value, total)
  const output = isRecord(value.output_tokens_details) ? value.output_tokens_details : {}
  const reasoning = Math.min(count(output.reasoning_tokens), totalOut)
  const serviceTier = textOf(tier)
  return {
    input: total - cache.read - cache.written,
    cacheRead: cache.read,
    cacheWrite: cache.written,
    output: totalOut - reasoning,
    reasoning,
    ...refined({ cacheWrite1h: cache.written1h, webSearches }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
  }
}

/** The `usage` of an answer; null if it is unknown. */
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
 * Whether the client runs its own tool search: it lists `tool_search` and answers its calls. In other formats
 * such a call is a function call, which the answer has to convert back.
 */
export function searchesTools(body: Json): boolean {
  return listedTools(body).some(({ type, execution }) => type === 'tool_search' && execution === 'client')
}

/** The definitions of all tools listed in the body. */
export function listedTools(body: Json): Json[] {
  const items = recordsOf(body.input).filter(listsTools)
  return [body, ...items].flatMap(({ tools }) => recordsOf(tools))
}

/** Whether an item of `input` defines tools. */
export function listsTools({ type }: Json): boolean {
  return type === 'additional_tools' || type === 'tool_search_output'
}

/** A member to be spread into an object, if it has a value. */
export function given(name: string, value: unknown): Json {
  return value === undefined ? {} : { [name]: value }
}

/** The value rounded down if it is a number above 0; otherwise 0. */
function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0
}
