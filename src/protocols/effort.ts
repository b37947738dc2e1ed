import { type ReasoningEffort, reasoningEfforts } from '../canonical/chat.ts'

/**
 * Tokens of thinking for each effort. Google gives 1K, 8K and 24K to `low`, `medium` and `high`
 * (https://ai.google.dev/gemini-api/docs/openai, read 2026-11-22). No vendor publishes the others: half of
 * `low` for `minimal`, then the next powers of two.
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
 * The effort that is about that many tokens: one of the words that every model with efforts takes, or `none`
 * for 0.
 */
export function effortOfBudget(tokens: number): ReasoningEffort {
  if (tokens <= 0) return 'none'
  // About the middle between two budgets of the table.
  if (tokens <= 4096) return 'low'
  return tokens < 16_384 ? 'medium' : 'high'
}

/**
 * The level that is nearest to an effort; of two that are as near, the lesser, which costs less. `none` is
 * near to nothing else: it is the least level, and no other effort becomes `none`. Undefined: there is no
 * level to take.
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
