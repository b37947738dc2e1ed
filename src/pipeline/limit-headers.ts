import type { Allowance, Standing } from '../limits/limits.ts'
import type { ProtocolName } from '../protocols/protocol.ts'

/**
 * Adds the headers in which a vendor's clients read their limits; none for a limit that is not set.
 * https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers
 * https://docs.anthropic.com/en/api/rate-limits#response-headers
 */
export function addLimitHeaders(
  headers: Record<string, string>,
  protocol: ProtocolName,
  { requests, tokens }: Standing,
  nowMs: number,
): void {
  const add = protocol === 'anthropic-messages' ? addAnthropic : addOpenai
  if (requests !== undefined) add(headers, 'requests', requests, nowMs)
  if (tokens !== undefined) add(headers, 'tokens', tokens, nowMs)
}

type Name = 'requests' | 'tokens'

interface HeaderNames {
  limit: string
  remaining: string
  reset: string
}

const openaiNames: Readonly<Record<Name, HeaderNames>> = {
  requests: openaiNamesOf('requests'),
  tokens: openaiNamesOf('tokens'),
}

function openaiNamesOf(name: Name): HeaderNames {
  const of = (what: string) => `x-ratelimit-${what}-${name}`
  return { limit: of('limit'), remaining: of('remaining'), reset: of('reset') }
}

function addOpenai(
  headers: Record<string, string>,
  name: Name,
  { limit, remaining, resetMs }: Allowance,
): void {
  const names = openaiNames[name]
  headers[names.limit] = String(limit)
  headers[names.remaining] = String(remaining)
  headers[names.reset] = duration(resetMs)
}

function addAnthropic(
  headers: Record<string, string>,
  name: Name,
  { limit, remaining, resetMs }: Allowance,
  nowMs: number,
): void {
  headers[`anthropic-ratelimit-${name}-limit`] = String(limit)
  headers[`anthropic-ratelimit-${name}-remaining`] = String(remaining)
  // RFC 3339 in whole seconds, as the vendor writes it; rounded up, so that the client does not return too
  // early.
  const seconds = Math.ceil((nowMs + resetMs) / 1_000)
  headers[`anthropic-ratelimit-${name}-reset`] = new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z')
}

/** `6ms`, `1.2s`, `1m2s`, `2h0m5s`: the vendor writes durations in the format of Go. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`
  const tenths = Math.ceil(ms / 100)
  if (tenths < 600) return `${tenths / 10}s`
  const seconds = Math.ceil(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  const rest = `${minutes % 60}m${seconds % 60}s`
  return minutes < 60 ? rest : `${Math.floor(minutes / 60)}h${rest}`
}
