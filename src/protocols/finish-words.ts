import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { FinishReason } from '../canonical/event.ts'

/**
 * The meaning of a finish reason; undefined if it means that the answer was aborted. Gateways forward the
 * finish reasons of their vendors, sometimes with a prefix, so any format can contain those of any other:
 * `content_filter: SAFETY`, `MAX_TOKENS`, `guardrail_intervened`
 * (https://github.com/pydantic/pydantic-ai/issues/7816). A reason that does not match any of them is treated
 * as `stop`.
 */
export function readFinishWord(word: string): FinishReason | undefined {
  const known = exact.get(word)
  if (known !== undefined) return known
  if (broken.test(word)) return undefined
  return patterns.find(({ words }) => words.test(word))?.meaning ?? 'stop'
}

/** The error for an aborted answer. */
export function brokenOff(word: string | undefined): GatewayError {
  return gatewayError('upstream_broke_off', { how: `(finish reason "${String(word).slice(0, 60)}").` })
}

const exact: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['STOP', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop_sequence'],
  ['length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['pause_turn', 'pause'],
  ['content_filter', 'content_filter'],
  ['refusal', 'refusal'],
])

/**
 * Zhipu's `network_error`, DeepSeek's `insufficient_system_resource`, SGLang's `abort`, OpenRouter's `error`,
 * and Gemini's reasons for calls and images: https://ai.google.dev/api/generate-content#FinishReason, read
 * 2026-11-21.
 */
const broken =
  /error|abort|malformed|fail|cancel|time_?out|insufficient|unexpected_tool|too_many_tool|missing_thought|no_image|image_other/i

/**
 * An unknown reason, such as Gemini's OTHER, shows only that the answer did not end normally, so it is
 * treated as `length`.
 */
const patterns: readonly { words: RegExp; meaning: FinishReason }[] = [
  { words: /refus/i, meaning: 'refusal' },
  {
    words:
      /filter|safety|guardrail|sensitive|block|moderat|prohibited|recitation|spii|language|policy|armor/i,
    meaning: 'content_filter',
  },
  {
    words:
      /length|max_?(\w+_)?tokens|context_window|token_limit|^(other|unknown|interrupt\w*|\w*unspecified)$/i,
    meaning: 'length',
  },
]
