import type { Standing } from '../limits/limits.ts'

/**
 * The headers by which OpenAI's clients see their limits; nothing for keys without limits.
 * https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers
 */
export function addLimitHeaders(headers: Record<string, string>, standing: Standing): void {
  if (standing.limitRequests !== undefined) {
    headers['x-ratelimit-limit-requests'] = String(standing.limitRequests)
    headers['x-ratelimit-remaining-requests'] = String(standing.remainingRequests ?? 0)
    headers['x-ratelimit-reset-requests'] = duration(standing.resetRequestsMs ?? 0)
  }
  if (standing.limitTokens !== undefined) {
    headers['x-ratelimit-limit-tokens'] = String(standing.limitTokens)
    headers['x-ratelimit-remaining-tokens'] = String(standing.remainingTokens ?? 0)
    headers['x-ratelimit-reset-tokens'] = duration(standing.resetTokensMs ?? 0)
  }
}

/** `6ms`, `1.2s`: the form the vendor writes. */
function duration(ms: number): string {
  return ms < 1000 ? `${Math.ceil(ms)}ms` : `${Math.ceil(ms / 100) / 10}s`
}
