import { type Headers, headerText } from '../canonical/headers.ts'

const secondsMax = 24 * 60 * 60

/**
 * Whole seconds from `retry-after-ms` or `retry-after` (seconds or a date), at least 1 and at most a day. Undefined
 * without these headers.
 */
export function readRetryAfter(headers: Headers): number | undefined {
  const ms = headerText(headers['retry-after-ms'])
  const after = headerText(headers['retry-after'])
  let seconds = Number.NaN
  if (ms !== undefined && ms.trim() !== '') seconds = Number(ms) / 1000
  if (!Number.isFinite(seconds) && after !== undefined && after.trim() !== '') {
    seconds = Number(after)
    if (!Number.isFinite(seconds)) {
      // Use the upstream's clock if the upstream sends its time.
      const now = Date.parse(headerText(headers.date) ?? '') || Date.now()
      seconds = (Date.parse(after) - now) / 1000
    }
  }
  return Number.isFinite(seconds) ? Math.min(Math.max(Math.ceil(seconds), 1), secondsMax) : undefined
}
