import { type Headers, headerText } from '../canonical/headers.ts'

const secondsMax = 24 * 60 * 60

/**
 * Whole seconds, at least 1, at most a day, from `retry-after-ms` or `retry-after` (seconds or a date); undefined when
 * the upstream told none.
 */
export function readRetryAfter(headers: Headers): number | undefined {
  const ms = headerText(headers['retry-after-ms'])
  const after = headerText(headers['retry-after'])
  let seconds = Number.NaN
  if (ms !== undefined && ms.trim() !== '') seconds = Number(ms) / 1000
  if (!Number.isFinite(seconds) && after !== undefined && after.trim() !== '') {
    seconds = Number(after)
    if (!Number.isFinite(seconds)) {
      // Measured by the upstream's own clock where it tells the time.
      const now = Date.parse(headerText(headers.date) ?? '') || Date.now()
      seconds = (Date.parse(after) - now) / 1000
    }
  }
  return Number.isFinite(seconds) ? Math.min(Math.max(Math.ceil(seconds), 1), secondsMax) : undefined
}
