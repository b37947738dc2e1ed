import type { Usage } from '../../canonical/usage.ts'

/** What `/chat/completions` answers look like, as far as the gateway reads them. Facts: docs of the vendor's API
 * reference, https://platform.openai.com/docs/api-reference/chat, and what other vendors of the format send. */
export type Json = Record<string, unknown>

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The canonical counts of a `usage` object; undefined when it tells none.
 *
 * `prompt_tokens` includes cached ones and `completion_tokens` includes reasoning. Placeholders that are zero all over
 * count as nothing told: a chat has at least one input token.
 */
export function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined
  const total = count(value.total_tokens)
  const prompt = count(value.prompt_tokens) ?? rest(total, count(value.completion_tokens))
  const completion = count(value.completion_tokens) ?? rest(total, prompt)
  if (prompt === undefined || completion === undefined || prompt + completion === 0) return undefined

  const promptDetails = isRecord(value.prompt_tokens_details) ? value.prompt_tokens_details : {}
  const completionDetails = isRecord(value.completion_tokens_details) ? value.completion_tokens_details : {}
  // DeepSeek's own name for cached tokens: https://api-docs.deepseek.com/guides/kv_cache
  const cached = count(promptDetails.cached_tokens) ?? count(value.prompt_cache_hit_tokens) ?? 0
  const cacheRead = Math.min(cached, prompt)
  const cacheWrite = Math.min(count(promptDetails.cache_write_tokens) ?? 0, prompt - cacheRead)
  const thought = count(completionDetails.reasoning_tokens) ?? 0
  // xAI leaves reasoning out of completion_tokens; its total shows it.
  const apart = thought > 0 && total === prompt + completion + thought
  const reasoning = apart ? thought : Math.min(thought, completion)
  return {
    input: prompt - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output: apart ? completion : completion - reasoning,
    reasoning,
  }
}

/**
 * Bytes of text that one choice of a chunk carries for the user; undefined when it carries nothing, 0 when what it
 * carries is not text (audio, images).
 */
export function contentBytes(choice: unknown): number | undefined {
  const delta = isRecord(choice) ? choice.delta : undefined
  if (!isRecord(delta)) return undefined
  let bytes: number | undefined
  for (const key of ['content', 'refusal', 'reasoning', 'reasoning_content'] as const) {
    const value = delta[key]
    if (typeof value === 'string' && value !== '') bytes = (bytes ?? 0) + Buffer.byteLength(value)
    else if (isFull(value)) bytes = (bytes ?? 0) + Buffer.byteLength(JSON.stringify(value))
  }
  if (isFull(delta.tool_calls)) {
    bytes ??= 0
    for (const call of delta.tool_calls)
      bytes += isRecord(call) ? functionBytes(call.function ?? call.custom) : 0
  }
  if (isRecord(delta.function_call)) bytes = (bytes ?? 0) + functionBytes(delta.function_call)
  if (isRecord(delta.audio) || isFull(delta.images) || isFull(delta.reasoning_details)) bytes ??= 0
  return bytes
}

function functionBytes(call: unknown): number {
  if (!isRecord(call)) return 0
  let bytes = 0
  for (const value of [call.name, call.arguments, call.input]) {
    if (typeof value === 'string') bytes += Buffer.byteLength(value)
  }
  return bytes
}

function isFull(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

function rest(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || part > total ? undefined : total - part
}
