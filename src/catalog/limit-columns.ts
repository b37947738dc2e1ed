import type { RateLimits } from './snapshot.ts'

export const unlimited: RateLimits = {
  requestsPerMinute: undefined,
  tokensPerMinute: undefined,
  concurrency: undefined,
}
