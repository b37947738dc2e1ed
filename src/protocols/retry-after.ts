import { type Headers, headerText } from '../canonical/headers.ts'
import type { Json } from '../canonical/json.ts'

const daySeconds = 24 * 60 * 60
/** Limits of a week or a month are common. Anything longer is not worth waiting for. */
const secondsMax = 31 * daySeconds

/**
 * Reads whole seconds from `retry-after-ms` or `retry-after` (seconds or a date). The result is at least 1,
 * at most a month, and one day for longer times. Undefined without these headers.
 */
export function readRetryAfter(headers: Headers): number | undefined {
  const ms = headerText(headers['retry-after-ms'])
  const after = headerText(headers['retry-after'])
  let seconds = Number.NaN
  if (ms !== undefined && ms.trim() !== '') seconds = Number(ms) / 1000
  if (!Number.isFinite(seconds) && after !== undefined && after.trim() !== '') {
    seconds = Number(after)
    if (!Number.isFinite(seconds)) {
      // The upstream's clock is used if the upstream sends its time.
      const now = Date.parse(headerText(headers.date) ?? '') || Date.now()
      seconds = (Date.parse(after) - now) / 1000
    }
  }
  return bounded(seconds)
}

/**
 * Reads the same from members of an error: `resets_in_seconds` or `resets_at` (seconds since 1970) of a usage
 * limit, and `retry_after` as sent by gateways. https://github.com/Soju06/codex-lb/issues/2439, read
 * 2026-11-28
 */
export function retryAfterIn({
  resets_in_seconds,
  retry_after,
  retry_after_seconds,
  resets_at,
}: Json): number | undefined {
  const given = [resets_in_seconds, retry_after, retry_after_seconds].find(
    (value) => typeof value === 'number',
  )
  if (typeof given === 'number') return bounded(given)
  return typeof resets_at === 'number' ? bounded(resets_at - Date.now() / 1000) : undefined
}

function bounded(seconds: number): number | undefined {
  if (!Number.isFinite(seconds)) return undefined
  return seconds > secondsMax ? daySeconds : Math.max(Math.ceil(seconds), 1)
}
