import type { FinishReason } from '../../canonical/event.ts'
import { countOf, isRecord, type Json, textOf } from '../../canonical/json.ts'
import { refined } from '../../canonical/price-parts.ts'
import { addUsage, type Usage } from '../../canonical/usage.ts'
import { hourTokens, writtenTokens } from '../cache-counts.ts'
import { legalCallId } from '../call-ids.ts'
import { readFinishWord } from '../finish-words.ts'
import type { NameRules } from '../tool-names.ts'
import { readIterations, type UncountedTokens } from './iterations.ts'

/** The name of this protocol, used in its signatures. */
export const protocolName = 'anthropic-messages'

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview, read 2026-11-21 */
export const toolNameRules: NameRules = { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 128 }

/** The vendor does not document a maximum length. The ids of all known vendors are far shorter than this. */
const callIdRules = { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 256 }

/** Makes tool call ids valid in this format and unique. */
export class CallIds {
  /** How many times each id has been used. */
  readonly #taken = new Map<string, number>()

  /** Returns the id unchanged if it is valid and new. */
  take(id: string): string {
    const legal = legalCallId(id, callIdRules)
    for (;;) {
      const times = (this.#taken.get(legal) ?? 0) + 1
      this.#taken.set(legal, times)
      if (times === 1) return legal
      const copy = `${legal}_${times}`
      if (this.#taken.has(copy)) continue
      this.#taken.set(copy, 1)
      return copy
    }
  }
}

/** Advice for clients that send a system message first, as in other formats. */
export const leadingSystemAdvice =
  'the first message cannot be a system message in this format: put its text into the top-level "system" field'

/** The counts received so far. Unknown counts are absent. */
export interface WireCounts {
  input?: number
  cacheRead?: number
  cacheWrite?: number
  output?: number
  thinking?: number
  /** The part of `cacheWrite` that is cached for one hour. Reported only by the first event of a stream. */
  cacheWrite1h?: number
  webSearches?: number
  serviceTier?: string
  leftOut?: UncountedTokens
}

/**
 * Merges one more `usage` object into the counts. Counts are cumulative: a new value replaces the old one,
 * and an absent one leaves it unchanged. An object of zeros is ignored, because some gateways send it as a
 * placeholder.
 */
export function mergeCounts(known: WireCounts, usage: unknown): WireCounts {
  if (!isRecord(usage)) return known
  const merged = { ...known }
  const input = countOf(usage.input_tokens)
  const cacheRead = countOf(usage.cache_read_input_tokens)
  const cacheWrite = writtenTokens(usage)
  if ((input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) > 0) {
    if (input !== undefined) merged.input = input
    if (cacheRead !== undefined) merged.cacheRead = cacheRead
    if (cacheWrite !== undefined) merged.cacheWrite = cacheWrite
  }
  const output = countOf(usage.output_tokens)
  if (output) merged.output = output
  const details = isRecord(usage.output_tokens_details) ? usage.output_tokens_details : {}
  const thinking = countOf(details.thinking_tokens)
  if (thinking) merged.thinking = thinking
  const hour = hourTokens(usage.cache_creation)
  if (hour) merged.cacheWrite1h = hour
  const searches = isRecord(usage.server_tool_use) ? countOf(usage.server_tool_use.web_search_requests) : 0
  if (searches) merged.webSearches = searches
  const tier = textOf(usage.service_tier)
  if (tier !== undefined) merged.serviceTier = tier
  const leftOut = readIterations(usage.iterations)
  if (leftOut !== undefined) merged.leftOut = leftOut
  return merged
}

/**
 * Undefined if there are no counts. `input_tokens` excludes cached tokens, `output_tokens` includes thinking.
 * Tokens that the vendor excludes from its top-level counts are added.
 */
export function usageOf(counts: WireCounts): Usage | undefined {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, serviceTier, leftOut } = counts
  // A prompt always has tokens, so counts without any input tokens are incomplete.
  if (input + cacheRead + cacheWrite === 0 && leftOut?.compaction === undefined) return undefined
  const reasoning = Math.min(counts.thinking ?? 0, output)
  const usage: Usage = {
    input,
    cacheRead,
    cacheWrite,
    output: output - reasoning,
    reasoning,
    ...refined({
      cacheWrite1h: Math.min(counts.cacheWrite1h ?? 0, cacheWrite),
      webSearches: counts.webSearches,
    }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(leftOut === undefined || leftOut.others.length === 0 ? {} : { others: leftOut.others }),
  }
  return leftOut?.compaction === undefined ? usage : addUsage(usage, leftOut.compaction)
}

/** The `usage` object on the wire. */
export function encodeUsage({ input, cacheRead, cacheWrite, output, reasoning, webSearches }: Usage): Json {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output + reasoning,
    ...(reasoning > 0 ? { output_tokens_details: { thinking_tokens: reasoning } } : {}),
    ...(webSearches ? { server_tool_use: { web_search_requests: webSearches, web_fetch_requests: 0 } } : {}),
  }
}

/**
 * The finish reason for a stop reason; undefined if the stop reason means that the answer was aborted.
 * `hasCalls`: whether the answer contains calls for the client to run.
 */
export function finishReasonOf(stopReason: string | undefined, hasCalls: boolean): FinishReason | undefined {
  const meaning = stopReason === undefined ? 'stop' : readFinishWord(stopReason)
  const isPlain = meaning === 'stop' || meaning === 'stop_sequence' || meaning === 'tool_calls'
  if (!isPlain) return meaning
  if (hasCalls) return 'tool_calls'
  return meaning === 'tool_calls' ? 'stop' : meaning
}

/** The stop reason on the wire for each finish reason. */
export const stopReasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  refusal: 'refusal',
  content_filter: 'refusal',
  pause: 'pause_turn',
}
