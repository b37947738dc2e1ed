import { createHash } from 'node:crypto'
import { countOf, isRecord } from '../../canonical/json.ts'
import type { Usage } from '../../canonical/usage.ts'
import type { Notes } from '../notes.ts'
import type { NameRules, ToolNames } from '../tool-names.ts'

/**
 * Names of functions: https://ai.google.dev/api/caching#FunctionDeclaration, read 2026-11-21. The first character is a
 * letter or an underscore.
 */
export const nameRules: NameRules = { illegal: /^[^a-zA-Z_]|[^a-zA-Z0-9_.-]/, charactersMax: 64 }

/** The input that the encoders of a conversation share. */
export interface ContentsContext {
  upstreamModel: string
  tools: ToolNames
  notes: Notes
}

export function noteCache({ cache, path }: { cache?: unknown; path: string }, notes: Notes): void {
  if (cache !== undefined) notes.add('dropped', path, 'the Gemini format takes no cache hints')
}

/** Ids that every client's format accepts unchanged, so that a call is recognised when it comes back. */
export const callIdRules = { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 40 }

/**
 * Whether a model is older than Gemini 3. Such a model counts thinking in tokens, needs no thought signatures, and
 * accepts images only beside a tool's result, not in it.
 */
export function isBefore3(model: string): boolean {
  return /gemini-[12](\.|-|$)|gemma/.test(model)
}

/** An id for a tool call without one. It is the same whenever the same answer is read. */
export function derivedCallId(
  answerId: string | undefined,
  index: number,
  name: string,
  input: string,
): string {
  const from = answerId ?? `${name} ${input}`
  return `call_${createHash('sha256').update(`${index} ${from}`).digest('hex').slice(0, 24)}`
}

/**
 * The counts of a `usageMetadata` object; undefined if it has none.
 *
 * `promptTokenCount` includes cached tokens but not those of tool use, and `candidatesTokenCount` excludes thoughts.
 * https://ai.google.dev/api/generate-content#UsageMetadata, read 2026-11-21
 */
export function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined
  const prompt = countOf(value.promptTokenCount)
  const output = countOf(value.candidatesTokenCount) ?? 0
  const reasoning = countOf(value.thoughtsTokenCount) ?? 0
  if (prompt === undefined) return undefined
  const total = prompt + (countOf(value.toolUsePromptTokenCount) ?? 0)
  if (total + output + reasoning === 0) return undefined
  const cacheRead = Math.min(countOf(value.cachedContentTokenCount) ?? 0, total)
  return { input: total - cacheRead, cacheRead, cacheWrite: 0, output, reasoning }
}
