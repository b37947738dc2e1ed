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

const openaiNames = namesOf((of, what) => `x-ratelimit-${what}-${of}`)
const anthropicNames = namesOf((of, what) => `anthropic-ratelimit-${of}-${what}`)

function namesOf(nameOf: (of: Name, what: keyof HeaderNames) => string): Readonly<Record<Name, HeaderNames>> {
  const of = (name: Name) => ({
    limit: nameOf(name, 'limit'),
    remaining: nameOf(name, 'remaining'),
    reset: nameOf(name, 'reset'),
  })
  return { requests: of('requests'), tokens: of('tokens') }
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
  const names = anthropicNames[name]
  headers[names.limit] = String(limit)
  headers[names.remaining] = String(remaining)
  // RFC 3339 in whole seconds, as the vendor writes it; rounded up, so that the client does not return too
  // early.
  const seconds = Math.ceil((nowMs + resetMs) / 1_000)
  headers[names.reset] = `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`
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
