import { count, short } from '../../format/numbers.ts'

export interface Limits {
  requests_per_minute: number | null
  tokens_per_minute: number | null
  concurrency: number | null
}

export interface Budget {
  day: string | null
  month: string | null
  total: string | null
}

/** `600 requests/min, 20 at once`; undefined: nothing is bounded. */
export function limitsInWords(limits: Limits | null): string | undefined {
  if (limits === null) return undefined
  const { requests_per_minute: requests, tokens_per_minute: tokens, concurrency } = limits
  const parts = [
    requests === null ? [] : [`${count(requests)} requests/min`],
    tokens === null ? [] : [`${short(tokens)} tokens/min`],
    concurrency === null ? [] : [`${count(concurrency)} at once`],
  ].flat()
  return parts.length === 0 ? undefined : parts.join(', ')
}

/** `$1 a day, $20 a month`; undefined: there is none. */
export function budgetInWords(budget: Budget | null): string | undefined {
  if (budget === null) return undefined
  const parts = [
    budget.day === null ? [] : [`$${budget.day} a day`],
    budget.month === null ? [] : [`$${budget.month} a month`],
    budget.total === null ? [] : [`$${budget.total} in all`],
  ].flat()
  return parts.length === 0 ? undefined : parts.join(', ')
}

/** `1 key`, `1,204 requests`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

interface KeyTimes {
  blocked: unknown
  disabled: boolean
  revoked_at: string | null
  expires_at: string | null
}

const soonMs = 7 * 86_400_000

/** The state of a key in a word or two. */
export function stateOfKey(
  key: KeyTimes,
  now: Date,
): { tone: 'good' | 'warning' | 'bad' | 'quiet'; words: string } {
  if (key.revoked_at !== null) return { tone: 'bad', words: 'revoked' }
  if (key.blocked !== null) return { tone: 'bad', words: 'blocked' }
  if (key.disabled) return { tone: 'quiet', words: 'disabled' }
  const left = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at) - now.getTime()
  if (left <= 0) return { tone: 'bad', words: 'expired' }
  if (left < soonMs) return { tone: 'warning', words: 'expires soon' }
  return { tone: 'good', words: 'enabled' }
}

/** How much of something is left, from 0 to 1, and how good that is. Nothing allowed: nothing is left. */
export function leftOf(left: bigint, allowed: bigint): { part: number; tone: 'good' | 'warning' | 'bad' } {
  if (allowed <= 0n || left <= 0n) return { part: 0, tone: 'bad' }
  const part = Math.min(Number((left * 1_000n) / allowed) / 1_000, 1)
  return { part, tone: part <= 0.1 ? 'warning' : 'good' }
}

/** Those of its own of which nothing is left. */
export function spentBudgets<Of extends { of: string; free_nano_usd: string }>(
  of: 'key' | 'tenant',
  budgets: readonly Of[],
): Of[] {
  return budgets.filter((budget) => budget.of === of && BigInt(budget.free_nano_usd) <= 0n)
}

/** What used a key: callers by address and program, the busiest first. */
export function callersOf(
  rows: readonly { client_address: string | null; user_agent: string | null; created_at: string }[],
): { address: string | null; program: string | null; requests: number; last: string }[] {
  const callers = new Map<
    string,
    { address: string | null; program: string | null; requests: number; last: string }
  >()
  for (const { client_address: address, user_agent: program, created_at } of rows) {
    const id = `${address}\n${program}`
    const caller = callers.get(id)
    if (caller === undefined) callers.set(id, { address, program, requests: 1, last: created_at })
    else {
      caller.requests += 1
      if (created_at > caller.last) caller.last = created_at
    }
  }
  return [...callers.values()].sort((a, b) => b.requests - a.requests)
}

/** Adds a signed decimal of USD to nano-USD; undefined where it is none. */
export function sumOf(nanoUsd: string, usd: string): string | undefined {
  const [, sign, whole, part = ''] = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(usd.trim()) ?? []
  if (whole === undefined) return undefined
  const size = BigInt(whole) * 1_000_000_000n + BigInt(part.padEnd(9, '0'))
  return String(BigInt(nanoUsd) + (sign === '-' ? -size : size))
}
