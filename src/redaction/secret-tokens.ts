import type { SecretSpan } from './secret-span.ts'

// Secrets that their own form identifies: keys with a prefix, JWTs and private keys.

/** Patterns of the characters that may begin a token, for one scan: each ends with the trigger of some tokens. */
export function tokenTriggers(): string[] {
  return byLastCharacter().map(([last, triggers]) => `${last}(?<=${triggers.join('|')})`)
}

function byLastCharacter(): [string, string[]][] {
  const groups = new Map<string, string[]>()
  for (const { trigger } of tokens) {
    const last = trigger.slice(-1)
    const triggers = groups.get(last) ?? []
    if (!triggers.includes(trigger)) triggers.push(trigger)
    groups.set(last, triggers)
  }
  return [...groups]
}

/** The token whose trigger ends just before `at`. */
export function tokenAt(text: string, at: number): SecretSpan | undefined {
  for (const { start, trigger, kind, body } of tokens) {
    const from = at - trigger.length
    if (from < 0 || !text.startsWith(start, from)) continue
    body.lastIndex = at
    if (!body.test(text)) continue
    // "task-..." and "desk-..." are words: behind a letter, a key must look random.
    if (!startsToken(text, from) && !looksRandom(text.slice(at, body.lastIndex))) continue
    return { from, start: from, end: body.lastIndex, until: body.lastIndex, kind }
  }
  return undefined
}

/** True when no letter or digit stands before `at`, except the last one of a JSON or URL escape. */
function startsToken(text: string, at: number): boolean {
  return (
    at === 0 ||
    !/[A-Za-z0-9]$/.test(text.slice(at - 1, at)) ||
    /(?:\\[nrtbf]|%[0-9A-Fa-f]{2})$/.test(text.slice(at - 3, at))
  )
}

function looksRandom(text: string): boolean {
  return /[0-9]/.test(text) && /[A-Z]/.test(text) && /[a-z]/.test(text)
}

interface Token {
  /** The characters that it begins with. `trigger`: those up to the first rare one. */
  start: string
  trigger: string
  kind: string
  /** The pattern of the rest after the trigger, sticky. */
  body: RegExp
}

const token = (kind: string, start: string, trigger: string, rest: string): Token => ({
  kind,
  start,
  trigger,
  body: new RegExp(rest, 'y'),
})

/** Asterisks: upstreams show keys half masked in their errors. */
const key = (least: number) => `[\\w*-]{${least},}`

/** The first token that matches names the kind: a longer start stands before a shorter one, and `csk-` before `sk-`. */
const tokens: readonly Token[] = [
  token('anthropic-key', 'sk-ant-', 'sk-', key(16)),
  token('openrouter-key', 'sk-or-', 'sk-', key(16)),
  token('cerebras-key', 'csk-', 'csk-', key(16)),
  token('openai-key', 'sk-', 'sk-', key(12)),
  token('groq-key', 'gsk_', 'gsk_', key(16)),
  token('stripe-key', 'sk_live_', 'sk_', key(16)),
  token('stripe-key', 'sk_test_', 'sk_', key(16)),
  token('stripe-key', 'rk_live_', 'rk_', key(16)),
  token('api-key', 'sk_', 'sk_', key(24)),
  token('google-key', 'AIza', 'AI', '[\\w-]{24,}'),
  token('google-token', 'GOCSPX-', 'GOCSPX-', key(16)),
  token('aws-key-id', 'AKIA', 'AKI', 'A[A-Z0-9]{12,}'),
  token('aws-key-id', 'ASIA', 'ASI', 'A[A-Z0-9]{12,}'),
  token('github-token', 'github_pat_', 'github_', key(20)),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((start) => token('github-token', start, start, key(16))),
  token('gitlab-token', 'glpat-', 'glpat-', '[\\w.-]{12,}'),
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xoxc-', 'xoxd-', 'xapp-'].map((start) =>
    token('slack-token', start, start, '[\\w%.-]{10,}'),
  ),
  token('huggingface-token', 'hf_', 'hf_', key(16)),
  token('xai-key', 'xai-', 'xai-', key(16)),
  token('replicate-token', 'r8_', 'r8_', key(16)),
  token('perplexity-key', 'pplx-', 'pplx-', key(16)),
  token('nvidia-key', 'nvapi-', 'nvapi-', key(16)),
  token('npm-token', 'npm_', 'npm_', key(16)),
  token('pypi-token', 'pypi-', 'pypi-', key(16)),
  token('sendgrid-key', 'SG.', 'SG', '\\.[\\w.-]{16,}'),
  // A truncated JWT may have no dot: its length still distinguishes it from other base64.
  token('jwt', 'eyJ', 'eyJ', '[\\w-]{8,}(?:\\.[\\w-]*)+|[\\w-]{200,}'),
  token('tollgate-key', 'tg-', 'tg-', key(12)),
]

const pemHeader = /BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/y
const pemBody = /(?:[A-Za-z0-9+/=\s:,]+|\\+[nrt/]|-(?!----))*(?:-----END [A-Z0-9 ]{0,40}-----)?/y
const pemFooter = /END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY/y

/** A private key from its first line on. Its last line may be missing. */
export function pemAt(text: string, at: number): SecretSpan | undefined {
  pemHeader.lastIndex = at
  if (!pemHeader.test(text)) return undefined
  pemBody.lastIndex = pemHeader.lastIndex
  pemBody.test(text)
  const end = pemBody.lastIndex
  return { from: at - 5, start: at - 5, end, until: end, kind: 'private-key' }
}

/** The end of a private key whose first line is missing. */
export function pemTailAt(text: string, at: number, least: number): SecretSpan | undefined {
  pemFooter.lastIndex = at
  if (!pemFooter.test(text)) return undefined
  let start = at - 5
  while (start > least && /[A-Za-z0-9+/=\r\n\\]/.test(text.charAt(start - 1))) start--
  return { from: start, start, end: pemFooter.lastIndex, until: pemFooter.lastIndex, kind: 'private-key' }
}
