import type { FinishReason } from '../../canonical/event.ts'
import { countOf, isRecord, type Json } from '../../canonical/json.ts'
import type { Usage } from '../../canonical/usage.ts'
import { legalCallId } from '../call-ids.ts'
import type { NameRules } from '../tool-names.ts'

/** Name of this protocol, which its signatures bear. */
export const protocolName = 'anthropic-messages'

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview, read 2026-11-21 */
export const toolNameRules: NameRules = { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 128 }

/** The vendor tells no bound of the length; the ids of every vendor known are far below this one. */
const callIdRules = { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 256 }

/** Ids of tool calls, legal in this format and each of them given once. */
export class CallIds {
  /** How often each was asked for. */
  readonly #taken = new Map<string, number>()

  /** The id itself where it is legal and new. */
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

/** What to do about the habit of other formats to begin with a system message. */
export const leadingSystemAdvice =
  'a system message cannot be the first one in this format: put its text into the top-level "system" field'

/** The wire's counts as told so far; a count that nobody told is absent. */
export interface Counts {
  input?: number
  cacheRead?: number
  cacheWrite?: number
  output?: number
  thinking?: number
}

/**
 * The counts after one more `usage` object. They are cumulative: told again they replace what was told before, and
 * what is not told again stays. Zeros all over count as nothing told: some gateways send them as placeholders.
 */
export function mergeCounts(known: Counts, usage: unknown): Counts {
  if (!isRecord(usage)) return known
  const merged = { ...known }
  const input = countOf(usage.input_tokens)
  const cacheRead = countOf(usage.cache_read_input_tokens)
  const cacheWrite = countOf(usage.cache_creation_input_tokens)
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
  return merged
}

/** Undefined when the upstream told none. `input_tokens` leaves cached ones out, `output_tokens` includes thinking. */
export function usageOf(counts: Counts): Usage | undefined {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = counts
  if (input + cacheRead + cacheWrite + output === 0) return undefined
  const reasoning = Math.min(counts.thinking ?? 0, output)
  return { input, cacheRead, cacheWrite, output: output - reasoning, reasoning }
}

/** The wire's `usage` of canonical counts. */
export function encodeUsage({ input, cacheRead, cacheWrite, output, reasoning }: Usage): Json {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output + reasoning,
    ...(reasoning > 0 ? { output_tokens_details: { thinking_tokens: reasoning } } : {}),
  }
}

/** What a stop reason means; `hasCalls`: whether the answer holds calls for the client to run. */
export function finishReasonOf(stopReason: string | undefined, hasCalls: boolean): FinishReason {
  switch (stopReason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length'
    case 'refusal':
      return 'refusal'
    case 'pause_turn':
      return 'pause'
    default:
      if (hasCalls) return 'tool_calls'
      return stopReason === 'stop_sequence' ? 'stop_sequence' : 'stop'
  }
}

/** The wire's word for each end. */
export const stopReasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  refusal: 'refusal',
  content_filter: 'refusal',
  pause: 'pause_turn',
}
