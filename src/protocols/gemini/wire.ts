import { countOf, isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { refined } from '../../canonical/price-parts.ts'
import { missingCount, type Usage } from '../../canonical/usage.ts'
import { madeCallId } from '../call-ids.ts'
import type { Notes } from '../notes.ts'
import type { NameRules, ToolNames } from '../tool-names.ts'

/**
 * The rules for function names: https://ai.google.dev/api/caching#FunctionDeclaration, read 2026-11-21. The
 * first character must be a letter or an underscore.
 */
export const nameRules: NameRules = { illegal: /^[^a-zA-Z_]|[^a-zA-Z0-9_.-]/, charactersMax: 64 }

/** The context shared by the encoders of a conversation. */
export interface ContentsContext {
  upstreamModel: string
  tools: ToolNames
  notes: Notes
}

export function noteCache({ cache, path }: { cache?: unknown; path: string }, notes: Notes): void {
  if (cache !== undefined) notes.add('dropped', path, 'the Gemini format does not support cache hints')
}

/** Ids that all client formats accept unchanged, so that a call is recognised when it is sent back. */
export const callIdRules = { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 40 }

/**
 * Whether a model is older than Gemini 3. Such a model measures thinking in tokens, needs no thought
 * signatures, and accepts images only next to a tool result, not inside it.
 */
export function isBefore3(model: string): boolean {
  return /gemini-[12](\.|-|$)|gemma/.test(model)
}

/** An id for a tool call without one. Reading the same answer again results in the same id. */
export function derivedCallId(
  answerId: string | undefined,
  index: number,
  name: string,
  input: string,
): string {
  const from = answerId ?? `${name} ${input}`
  return madeCallId(`${index} ${from}`)
}

/**
 * The counts of a `usageMetadata` object; undefined if it contains none.
 *
 * `promptTokenCount` includes cached tokens but not those of tool use, and `candidatesTokenCount` excludes
 * thoughts. https://ai.google.dev/api/generate-content#UsageMetadata, read 2026-11-21
 */
export function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined
  const all = countOf(value.totalTokenCount)
  const tools = countOf(value.toolUsePromptTokenCount) ?? 0
  const candidates = countOf(value.candidatesTokenCount)
  const thoughts = countOf(value.thoughtsTokenCount)
  const reasoning = thoughts ?? 0
  const answered = candidates ?? thoughts
  const rest = answered === undefined ? undefined : (candidates ?? 0) + reasoning + tools
  const prompt = countOf(value.promptTokenCount) ?? missingCount(all, rest)
  if (prompt === undefined) return undefined
  const total = prompt + tools
  // Some servers of this format omit the count of the answer, so it is derived from the total.
  // https://github.com/Tiendil/feeds.fun/issues/406
  const output =
    candidates ?? missingCount(all, total + reasoning) ?? (thoughts === undefined ? undefined : 0)
  if (output === undefined || total + output + reasoning === 0) return undefined
  const cacheRead = Math.min(countOf(value.cachedContentTokenCount) ?? 0, total)
  const input = total - cacheRead
  const audioInput = audioTokens(value.promptTokensDetails) - audioTokens(value.cacheTokensDetails)
  const serviceTier = textOf(value.serviceTier)
  return {
    input,
    cacheRead,
    cacheWrite: 0,
    output,
    reasoning,
    ...refined({
      audioInput: Math.min(Math.max(0, audioInput), input),
      audioOutput: Math.min(audioTokens(value.candidatesTokensDetails), output),
    }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
  }
}

/** The number of audio tokens in a list of `ModalityTokenCount`. */
function audioTokens(details: unknown): number {
  let tokens = 0
  for (const { modality, tokenCount } of recordsOf(details)) {
    if (modality === 'AUDIO') tokens += countOf(tokenCount) ?? 0
  }
  return tokens
}

/**
 * The queries in a candidate's `groundingMetadata`. The vendor bills each distinct query once and never bills
 * empty ones. For Gemini 2.5 and older, it bills by prompt, so any number above 0 counts as one search.
 * https://ai.google.dev/gemini-api/docs/google-search#pricing, read 2026-11-22
 */
export function searchQueries(candidate: Json): string[] {
  const grounding = isRecord(candidate.groundingMetadata) ? candidate.groundingMetadata : {}
  const queries: unknown = grounding.webSearchQueries
  return Array.isArray(queries) ? queries.filter((query) => textOf(query) !== undefined).map(String) : []
}
