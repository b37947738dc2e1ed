import { type ReasoningEffort, reasoningEfforts } from '../canonical/chat.ts'

/**
 * The number of thinking tokens for each effort. Google uses 1K, 8K and 24K for `low`, `medium` and `high`
 * (https://ai.google.dev/gemini-api/docs/openai, read 2026-11-22). No vendor publishes the other values:
 * `minimal` is half of `low`, and the rest are the next powers of two.
 */
const budgets: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 65_536,
}

export function budgetOfEffort(effort: ReasoningEffort): number {
  return budgets[effort]
}

/**
 * The effort that roughly corresponds to a number of tokens: one that every model with efforts supports, or
 * `none` for 0.
 */
export function effortOfBudget(tokens: number): ReasoningEffort {
  if (tokens <= 0) return 'none'
  // Roughly the middle between two budgets of the table.
  if (tokens <= 4096) return 'low'
  return tokens < 16_384 ? 'medium' : 'high'
}

/**
 * Returns the level nearest to an effort. If two are equally near, the lower one is used because it costs
 * less. Other efforts never become `none`. Undefined if no level is available.
 */
export function nearestEffort(
  effort: ReasoningEffort,
  levels: readonly ReasoningEffort[],
): ReasoningEffort | undefined {
  if (levels.includes(effort)) return effort
  const ranked = levels.filter((level) => level !== 'none').sort((a, b) => rankOf(a) - rankOf(b))
  const wanted = rankOf(effort)
  let nearest: ReasoningEffort | undefined
  for (const level of ranked) {
    if (nearest === undefined || Math.abs(rankOf(level) - wanted) < Math.abs(rankOf(nearest) - wanted)) {
      nearest = level
    }
  }
  return nearest
}

function rankOf(effort: ReasoningEffort): number {
  return reasoningEfforts.indexOf(effort)
}
