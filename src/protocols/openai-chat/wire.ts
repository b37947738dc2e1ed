import { gatewayError } from '../../canonical/error.ts'
import { countOf, isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { refined } from '../../canonical/price-parts.ts'
import { missingCount, type Usage } from '../../canonical/usage.ts'
import { readCacheCounts } from '../cache-counts.ts'
import type { NameRules } from '../tool-names.ts'

// The parts of `/chat/completions` answers that the gateway reads. Sources: the vendor's API reference,
// https://platform.openai.com/docs/api-reference/chat, and answers of other vendors that use the format.

/** The vendor's rules for tool names. */
export const toolNameRules: NameRules = { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 64 }

/** The vendor's rules for tool call ids. Only their length is checked. */
export const callIdRules = { illegal: /[^\x21-\x7e]/, charactersMax: 40 }

/** The choice that a translation uses, because other formats have only one. */
export function firstChoice(answer: Json): Json | undefined {
  return recordsOf(answer.choices).find(isFirst)
}

/**
 * Whether a choice is the one that we request. Others can occur too: some upstreams return the calls of an
 * answer in a separate choice, as GitHub Copilot does for Claude.
 */
export function isFirst({ index }: Json): boolean {
  return index === 0 || index === undefined || index === null
}

/** The counts of an answer or a chunk. Moonshot puts them into a choice, Groq into a separate member. */
export function usageIn({ usage, choices, x_groq: groq, service_tier: tier }: Json): Usage | undefined {
  const counts = readUsage(usage, tier)
  if (counts !== undefined) return counts
  for (const { usage: beside } of [...recordsOf(choices), ...recordsOf([groq])]) {
    const counts = readUsage(beside, tier)
    if (counts !== undefined) return counts
  }
  return undefined
}

/** The value of a signature: an element of `reasoning_details` without its text, which is in the block. */
export function writeDetailSignature({ text: _text, summary: _summary, ...detail }: Json): string {
  return dataOf(detail)
}

/**
 * The value of a signature that contains the `extra_content` of a tool call or of the message. Gemini's
 * endpoint for this format puts its thought signatures there:
 * https://ai.google.dev/gemini-api/docs/thought-signatures#openai, read 2026-11-28
 */
export function writeExtraSignature(of: 'tool_call' | 'message', extra: Json): string {
  return dataOf({ of, extra_content: extra })
}

/** The JSON text of a part of an upstream's answer, whose nesting depth is not limited. */
export function dataOf(value: Json): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw gatewayError('upstream_answer_unreadable', { what: 'JSON that is nested too deeply' }, { cause })
  }
}

/**
 * Values of our own signatures, which only record the member that contains the text. Many clients of other
 * formats send back only signed reasoning.
 */
export const reasoningMemberSignature = JSON.stringify({ member: 'reasoning' })
export const reasoningContentSignature = JSON.stringify({ member: 'reasoning_content' })

/** The format's `usage` object. Its totals include their parts. */
export function writeUsage(usage: Usage): Json {
  const { input, cacheRead, cacheWrite, output, reasoning, audioInput, audioOutput } = usage
  const prompt = input + cacheRead + cacheWrite
  const completion = output + reasoning
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      cache_write_tokens: cacheWrite,
      ...(audioInput === undefined ? {} : { audio_tokens: audioInput }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      ...(audioOutput === undefined ? {} : { audio_tokens: audioOutput }),
    },
  }
}

/**
 * The counts of a `usage` object; undefined if it contains none.
 *
 * `prompt_tokens` includes cached tokens and `completion_tokens` includes reasoning. An object of zeros is a
 * placeholder, because a chat has at least one input token. `tier` is the `service_tier` next to it.
 */
export function readUsage(value: unknown, tier?: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined
  const total = countOf(value.total_tokens)
  const prompt = countOf(value.prompt_tokens) ?? missingCount(total, countOf(value.completion_tokens))
  const completion = countOf(value.completion_tokens) ?? missingCount(total, prompt)
  if (prompt === undefined || completion === undefined || prompt + completion === 0) return undefined

  const promptDetails = isRecord(value.prompt_tokens_details) ? value.prompt_tokens_details : {}
  const completionDetails = isRecord(value.completion_tokens_details) ? value.completion_tokens_details : {}
  const cache = readCacheCounts(value, prompt)
  const thought = countOf(completionDetails.reasoning_tokens) ?? 0
  // xAI excludes reasoning from completion_tokens, but its total includes it.
  const apart = thought > 0 && total === prompt + completion + thought
  const reasoning = apart ? thought : Math.min(thought, completion)
  const input = prompt - cache.read - cache.written
  const output = apart ? completion : completion - reasoning
  const serviceTier = textOf(tier)
  return {
    input,
    cacheRead: cache.read,
    cacheWrite: cache.written,
    output,
    reasoning,
    ...refined({
      cacheWrite1h: cache.written1h,
      audioInput: Math.min(countOf(promptDetails.audio_tokens) ?? 0, input),
      audioOutput: Math.min(countOf(completionDetails.audio_tokens) ?? 0, output),
    }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
  }
}

/**
 * The number of text bytes for the user in one choice of a chunk. Undefined if it has no content, and 0 if
 * the content is not text (audio, images).
 */
export function contentBytes(choice: unknown): number | undefined {
  if (!isRecord(choice)) return undefined
  const { delta, text } = choice
  // Completions, which are not chat, have their text here.
  if (typeof text === 'string' && text !== '') return Buffer.byteLength(text)
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
