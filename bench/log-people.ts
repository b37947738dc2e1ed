import { createHash } from 'node:crypto'

/** Chooses numbers below a count: the same ones in each run, for the same seed. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 to below 1: mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  below(count: number): number {
    return Math.trunc(this.next() * count)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  /** Many small ones and few large ones, with this median. */
  skewed(median: number): number {
    return Math.round(median * Math.exp(2.2 * (this.next() + this.next() + this.next() - 1.5)))
  }
}

/** Picks the n-th of `count` with a weight of 1 / (n + 1) ** `skew`, as names in real logs are used. */
export function zipf(count: number, skew = 1): (dice: Dice) => number {
  const slots = new Uint32Array(65_536)
  const weights = Float64Array.from({ length: count }, (_, n) => 1 / (n + 1) ** skew)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let at = 0
  let until = 0
  weights.forEach((weight, n) => {
    until += (weight / total) * slots.length
    while (at < Math.min(until, slots.length)) slots[at++] = n
  })
  // The rarest names have less than one slot: the last slots pick among all of them.
  const rare = Math.max(1, Math.trunc(slots.length * 0.01))
  return (dice) => {
    const slot = dice.below(slots.length)
    return slot < slots.length - rare ? (slots[slot] ?? 0) : dice.below(count)
  }
}

/** The same id for the same name in each run. */
export function idOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const list = (count: number, make: (n: number) => string) => Array.from({ length: count }, (_, n) => make(n))

export const tenantCount = 200
export const keyCount = 3_000
export const groupNames = list(12, (n) => `group-${n}`)
export const tenantNames = list(tenantCount, (n) => `tenant-${n}`)
export const channelNames = list(40, (n) => `channel-${n}`)
export const modelNames = list(120, (n) => `model-${n}`)
export const endUserName = (n: number) => `user-${n}@customer-${n % 977}.example`
export const addressOf = (n: number) => `10.${n % 61}.${(n >> 3) % 241}.${(n * 7) % 251}`
export const userAgents = list(90, (n) => {
  const program = [
    'OpenAI/Python',
    'OpenAI/JS',
    'Anthropic/Python',
    'claude-cli/',
    'curl/',
    'aider/',
    'node',
  ][n % 7]
  return `${program} ${1 + (n % 4)}.${n % 31}.${n % 9}`
})
export const endpoints = [
  ['/v1/chat/completions', 'openai-chat'],
  ['/v1/messages', 'anthropic-messages'],
  ['/v1/responses', 'openai-responses'],
  ['/v1/embeddings', 'openai-chat'],
  ['/v1/images/generations', 'openai-images'],
  ['/v1/messages/count_tokens', 'anthropic-messages'],
] as const

interface Trouble {
  kind: string
  status: number
  outcome: string
  upstreamStatus: number | null
  message(n: number): string
}

const trouble = (
  kind: string,
  status: number,
  outcome: string,
  upstreamStatus: number | null,
  message: (n: number) => string,
): Trouble => ({ kind, status, outcome, upstreamStatus, message })

/** The frequent ones first. */
export const troubles: readonly Trouble[] = [
  trouble(
    'rate_limited',
    429,
    'refused',
    null,
    (n) => `The key may make ${60 + (n % 9) * 60} requests a minute. Try again in ${n % 60} s.`,
  ),
  trouble(
    'upstream_overloaded',
    529,
    'failed',
    529,
    (n) => `The upstream is overloaded: Overloaded (request_id: req_${n.toString(36)})`,
  ),
  trouble(
    'upstream_error',
    502,
    'failed',
    500,
    (n) =>
      `The upstream answered 500: The server had an error processing your request (trace ${n.toString(16)})`,
  ),
  trouble(
    'invalid_request',
    400,
    'refused',
    400,
    (n) => `messages.${n % 40}.content.${n % 5}.type: expected "text", got "image_url"`,
  ),
  trouble(
    'upstream_timeout',
    504,
    'failed',
    null,
    (n) => `The upstream gave no first byte within ${n % 600} s.`,
  ),
  trouble(
    'client_gone',
    499,
    'cancelled',
    null,
    () => 'The client disconnected before it received an answer.',
  ),
  trouble(
    'model_not_found',
    404,
    'refused',
    null,
    (n) => `The key may not use the model "model-${n % 500}", or there is none.`,
  ),
  trouble(
    'insufficient_credit',
    402,
    'refused',
    null,
    (n) => `The balance of the tenant is $0.${n % 90}, and the request may cost $1.${n % 90}.`,
  ),
  trouble(
    'content_filtered',
    400,
    'failed',
    400,
    (n) =>
      `The content management policy of the upstream refused the prompt: category ${['hate', 'violence', 'self-harm'][n % 3]}`,
  ),
  trouble('unauthenticated', 401, 'refused', null, () => 'There is no such key.'),
  trouble(
    'request_too_large',
    413,
    'refused',
    null,
    (n) => `The context has ${128_000 + n} tokens; the model takes 128000.`,
  ),
]
