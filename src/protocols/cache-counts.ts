import { countOf, isRecord, type Json } from '../canonical/json.ts'

/**
 * Tokens of a prompt that were read from or written to a cache. The count of all input tokens includes them.
 */
export interface CacheCounts {
  read: number
  written: number
  /** The part of `written` that is cached for one hour. */
  written1h: number
}

/**
 * The cache counts of a `usage` object in one of OpenAI's formats. Servers use many names for these counts,
 * in `usage` itself or in its details, and some report 0 under one name next to the real count under another,
 * so the largest count is used.
 *
 * `cached_tokens`, `cache_write_tokens`: OpenAI and OpenRouter, in the details
 * (https://developers.openai.com/api/docs/guides/prompt-caching); Moonshot, next to them.
 * `prompt_cache_hit_tokens`: DeepSeek (https://api-docs.deepseek.com/guides/kv_cache).
 * `cache_read_input_tokens`, `cache_creation_input_tokens`, `cache_creation_tokens`: LiteLLM
 * (https://docs.litellm.ai/docs/completion/prompt_caching), and Qwen in the details
 * (https://www.alibabacloud.com/help/en/model-studio/explicit-cache-qwen4). `cached_creation_tokens`: new-api
 * (https://github.com/QuantumNous/new-api). Read 2026-11-28.
 */
export function readCacheCounts(usage: Json, inputTokens: number): CacheCounts {
  const counts = { read: 0, written: 0, hour: 0 }
  addCounts(usage, counts)
  const { prompt_tokens_details: promptDetails, input_tokens_details: inputDetails } = usage
  if (isRecord(promptDetails)) addCounts(promptDetails, counts)
  if (isRecord(inputDetails)) addCounts(inputDetails, counts)
  const read = Math.min(counts.read, inputTokens)
  const written = Math.min(counts.written, inputTokens - read)
  return { read, written, written1h: Math.min(counts.hour, written) }
}

/**
 * Iterates over the members that are present, because looking up each possible name would be several times
 * slower.
 */
function addCounts(place: Json, counts: { read: number; written: number; hour: number }): void {
  for (const name in place) {
    const of = meanings.get(name)
    if (of !== undefined) counts[of] = Math.max(counts[of], countOf(place[name]) ?? 0)
    else if (name === 'cache_creation') {
      counts.written = Math.max(counts.written, partsOf(place[name]) ?? 0)
      counts.hour = Math.max(counts.hour, hourTokens(place[name]))
    }
  }
}

const meanings = new Map<string, 'read' | 'written'>([
  ['cached_tokens', 'read'],
  ['cache_read_tokens', 'read'],
  ['cache_read_input_tokens', 'read'],
  ['cached_input_tokens', 'read'],
  ['prompt_cache_hit_tokens', 'read'],
  ['cache_write_tokens', 'written'],
  ['cache_write_input_tokens', 'written'],
  ['cache_creation_tokens', 'written'],
  ['cache_creation_input_tokens', 'written'],
  ['cached_creation_tokens', 'written'],
])

/** The tokens of a `cache_creation` object that the vendor caches for one hour. */
export function hourTokens(creation: unknown): number {
  return (isRecord(creation) ? countOf(creation.ephemeral_1h_input_tokens) : undefined) ?? 0
}

/** The tokens that a Messages `usage` reports as written: their sum, or else its parts. */
export function writtenTokens(usage: Json): number | undefined {
  return countOf(usage.cache_creation_input_tokens) ?? partsOf(usage.cache_creation)
}

function partsOf(creation: unknown): number | undefined {
  if (!isRecord(creation)) return undefined
  return hourTokens(creation) + (countOf(creation.ephemeral_5m_input_tokens) ?? 0)
}
