import { countOf, isRecord, type Json } from '../canonical/json.ts'

/** Tokens of a prompt that a cache has given or taken, where a count of all input tokens includes them. */
export interface CacheCounts {
  read: number
  written: number
  /** The part of `written` that is kept for an hour. */
  written1h: number
}

/**
 * The cache counts of a `usage` object in a format of OpenAI's. Servers of these formats have many names for them, in `usage` itself or
 * in its details, and some fill one name with 0 beside another one: the largest count is true.
 *
 * `cached_tokens`, `cache_write_tokens`: OpenAI and OpenRouter, in the details (https://developers.openai.com/api/docs/guides/prompt-caching);
 * Moonshot, beside them. `prompt_cache_hit_tokens`: DeepSeek (https://api-docs.deepseek.com/guides/kv_cache).
 * `cache_read_input_tokens`, `cache_creation_input_tokens`, `cache_creation_tokens`: LiteLLM
 * (https://docs.litellm.ai/docs/completion/prompt_caching), and Qwen in the details
 * (https://www.alibabacloud.com/help/en/model-studio/explicit-cache-qwen4). `cached_creation_tokens`: new-api
 * (https://github.com/QuantumNous/new-api). Read 2026-11-28.
 */
export function readCacheCounts(usage: Json, inputTokens: number): CacheCounts {
  let read = 0
  let written = 0
  let hour = 0
  for (const place of [usage, usage.prompt_tokens_details, usage.input_tokens_details]) {
    if (!isRecord(place)) continue
    read = Math.max(read, mostOf(place, readNames))
    const { cache_creation: creation } = place
    written = Math.max(written, mostOf(place, writeNames), partsOf(creation) ?? 0)
    hour = Math.max(hour, hourTokens(creation))
  }
  read = Math.min(read, inputTokens)
  written = Math.min(written, inputTokens - read)
  return { read, written, written1h: Math.min(hour, written) }
}

function mostOf(place: Json, names: readonly string[]): number {
  let most = 0
  for (const name of names) most = Math.max(most, countOf(place[name]) ?? 0)
  return most
}

const readNames = [
  'cached_tokens',
  'cache_read_tokens',
  'cache_read_input_tokens',
  'cached_input_tokens',
  'prompt_cache_hit_tokens',
] as const
const writeNames = [
  'cache_write_tokens',
  'cache_write_input_tokens',
  'cache_creation_tokens',
  'cache_creation_input_tokens',
  'cached_creation_tokens',
] as const

/** The tokens of a `cache_creation` object that the vendor keeps for an hour. */
export function hourTokens(creation: unknown): number {
  return (isRecord(creation) ? countOf(creation.ephemeral_1h_input_tokens) : undefined) ?? 0
}

/** The tokens that a Messages `usage` has as written: their sum, or else its parts. */
export function writtenTokens(usage: Json): number | undefined {
  return countOf(usage.cache_creation_input_tokens) ?? partsOf(usage.cache_creation)
}

function partsOf(creation: unknown): number | undefined {
  if (!isRecord(creation)) return undefined
  return hourTokens(creation) + (countOf(creation.ephemeral_5m_input_tokens) ?? 0)
}
