import {
  backslashes,
  capitalsAndDigits,
  dottedCharacters,
  hyphens,
  isAt,
  keyCharacters,
  lettersAndDigits,
  pemCharacters,
  pemTailCharacters,
  type Runs,
  runEnd,
  runStart,
  slackCharacters,
  wordCharacters,
} from './runs.ts'
import type { SecretSpan } from './secret-span.ts'

// Secrets that their own form identifies: keys with a prefix, JWTs and private keys.

/** Patterns of the characters that may begin a token, for one scan: each ends with the trigger of some tokens. */
export function tokenTriggers(): string[] {
  return byLastCharacter().map(([last, triggers]) => `${last}(?<=${triggers.join('|')})`)
}

function byLastCharacter(): [string, string[]][] {
  return [...tokensByEnd.values()].map((group) => {
    const triggers = new Set(group.map(({ trigger }) => trigger))
    return [group[0]?.trigger.slice(-1) ?? '', [...triggers]]
  })
}

/** The token whose trigger ends just before `at`. `runs`: of the text. */
export function tokenAt(text: string, at: number, runs: Runs): SecretSpan | undefined {
  for (const { start, trigger, kind, characters, least } of tokensByEnd.get(text.charCodeAt(at - 1)) ?? []) {
    const from = at - trigger.length
    if (from < 0 || !text.startsWith(start, from)) continue
    const all = characters === jwtCharacters ? jwtCharactersAt(text, at, runs) : characters
    if (all === undefined) continue
    const end = runs.end(at, all)
    if (end - at < least) continue
    // "task-..." and "desk-..." are words: behind a letter, a key must look random.
    if (!startsToken(text, from) && !runs.looksRandom(at, all)) continue
    return { from, start: from, end, until: end, kind }
  }
  return undefined
}

/** True when no letter or digit stands before `at`, except the last one of a JSON or URL escape. */
function startsToken(text: string, at: number): boolean {
  return (
    at === 0 ||
    !isAt(text, at - 1, lettersAndDigits) ||
    /(?:\\[nrtbf]|%[0-9A-Fa-f]{2})$/.test(text.slice(Math.max(0, at - 3), at))
  )
}

/** A truncated JWT may have no dot: its length still distinguishes it from other base64. Undefined: it is no JWT. */
function jwtCharactersAt(text: string, at: number, runs: Runs): number | undefined {
  const end = runs.end(at, wordCharacters)
  if (end - at >= 8 && text.charCodeAt(end) === dotCode) return dottedCharacters
  return end - at >= 200 ? wordCharacters : undefined
}

const dotCode = 0x2e

interface Token {
  /** The characters that it begins with. `trigger`: those up to the first rare one. */
  start: string
  trigger: string
  kind: string
  /** The kind of its characters after the trigger. */
  characters: number
  /** How many of them it has at least. */
  least: number
}

const token = (
  kind: string,
  start: string,
  trigger: string,
  least: number,
  characters = keyCharacters,
): Token => ({ kind, start, trigger, characters, least })

/** No kind: see `jwtCharactersAt`. */
const jwtCharacters = 0

/** The first token that matches names the kind: a longer start stands before a shorter one, and `csk-` before `sk-`. */
export const tokens: readonly Token[] = [
  token('anthropic-key', 'sk-ant-', 'sk-', 16),
  token('openrouter-key', 'sk-or-', 'sk-', 16),
  token('cerebras-key', 'csk-', 'csk-', 16),
  token('openai-key', 'sk-', 'sk-', 12),
  token('groq-key', 'gsk_', 'gsk_', 16),
  token('stripe-key', 'sk_live_', 'sk_', 16),
  token('stripe-key', 'sk_test_', 'sk_', 16),
  token('stripe-key', 'rk_live_', 'rk_', 16),
  token('api-key', 'sk_', 'sk_', 24),
  token('google-key', 'AIza', 'AI', 26, wordCharacters),
  token('google-token', 'GOCSPX-', 'GOCSPX-', 16),
  token('aws-key-id', 'AKIA', 'AKI', 13, capitalsAndDigits),
  token('aws-key-id', 'ASIA', 'ASI', 13, capitalsAndDigits),
  token('github-token', 'github_pat_', 'github_', 20),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((start) => token('github-token', start, start, 16)),
  token('gitlab-token', 'glpat-', 'glpat-', 12, dottedCharacters),
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xoxc-', 'xoxd-', 'xapp-'].map((start) =>
    token('slack-token', start, start, 10, slackCharacters),
  ),
  token('huggingface-token', 'hf_', 'hf_', 16),
  token('xai-key', 'xai-', 'xai-', 16),
  token('replicate-token', 'r8_', 'r8_', 16),
  token('perplexity-key', 'pplx-', 'pplx-', 16),
  token('nvidia-key', 'nvapi-', 'nvapi-', 16),
  token('npm-token', 'npm_', 'npm_', 16),
  token('pypi-token', 'pypi-', 'pypi-', 16),
  token('sendgrid-key', 'SG.', 'SG', 17, dottedCharacters),
  token('jwt', 'eyJ', 'eyJ', 8, jwtCharacters),
  token('tollgate-key', 'tg-', 'tg-', 12),
]

/** By the code of the last character of their triggers. */
const tokensByEnd = Map.groupBy(tokens, ({ trigger }) => trigger.charCodeAt(trigger.length - 1))

const pemHeader = /BEGIN (?:[A-Z0-9]{1,32} ){0,3}PRIVATE KEY(?: BLOCK)?-----/y
const pemEnd = /-----END [A-Z0-9 ]{0,40}-----/y
const pemFooter = /END (?:[A-Z0-9]{1,32} ){0,3}PRIVATE KEY/y

/** A private key from its first line on. Its last line may be missing. */
export function pemAt(text: string, at: number): SecretSpan | undefined {
  pemHeader.lastIndex = at
  if (!pemHeader.test(text)) return undefined
  const bodyEnd = pemBodyEnd(text, pemHeader.lastIndex)
  pemEnd.lastIndex = bodyEnd
  const end = pemEnd.test(text) ? pemEnd.lastIndex : bodyEnd
  return { from: at - 5, start: at - 5, end, until: end, kind: 'private-key' }
}

/** Lines of base64, with escapes of their ends and of slashes, up to five hyphens. */
function pemBodyEnd(text: string, start: number): number {
  for (let at = start; ; ) {
    const end = runEnd(text, at, pemCharacters)
    const escaped = runEnd(text, end, backslashes)
    const dashes = runEnd(text, end, hyphens)
    if (escaped > end && 'nrt/'.includes(text.charAt(escaped) || '-')) at = escaped + 1
    else if (dashes > end && dashes - end < 5) at = dashes
    else return end
  }
}

/** The end of a private key whose first line is missing. */
export function pemTailAt(text: string, at: number, least: number): SecretSpan | undefined {
  pemFooter.lastIndex = at
  if (!pemFooter.test(text)) return undefined
  const start = runStart(text, at - 5, pemTailCharacters, least)
  return { from: start, start, end: pemFooter.lastIndex, until: pemFooter.lastIndex, kind: 'private-key' }
}
