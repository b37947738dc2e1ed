import { percentDecoded } from '../../src/redaction/percent-encoding.ts'
import { mergeSpans, type SecretSpan } from '../../src/redaction/secret-span.ts'

/**
 * What a secret is, by one plain pattern for each kind, and without any care for time: some of these searches are quadratic. The product
 * must find the same.
 */
export function plainSearch(text: string): SecretSpan[] {
  const spans = searchOnce(text)
  const decoded = percentDecoded(text)
  return decoded === undefined
    ? spans
    : mergeSpans([...spans, ...searchOnce(decoded.text).map(decoded.original)])
}

function searchOnce(text: string): SecretSpan[] {
  const spans: SecretSpan[] = []
  for (let at = 1; at <= text.length; at++) {
    const span = secretAt(text, at, spans.at(-1)?.end ?? 0)
    if (span === undefined) continue
    spans.push(span)
    at = span.end
  }
  return spans
}

/** `at`: behind the character by which the search stops. */
function secretAt(text: string, at: number, least: number): SecretSpan | undefined {
  const before = text.slice(Math.max(0, at - 32), at)
  const behind = text.slice(at)
  const last = text[at - 1]
  if (/^(?:earer[ +]|asic )/.test(behind) && /[bB]/.test(last ?? '')) return schemeAt(text, at - 1)
  const isAnnounced = announced.test(before)
  if (last === ':' && /^\\*\/\\*\//.test(behind)) {
    return urlAt(text, at - 1) ?? valueAt(text, at)
  }
  if (isAnnounced) return valueAt(text, at)
  if (before.endsWith('-----') && behind.startsWith('BEGIN ')) return pemAt(text, at)
  if (before.endsWith('-----') && behind.startsWith('END ')) return pemTailAt(text, at, least)
  return tokenAt(text, at)
}

function found(from: number, start: number, end: number, until: number, kind: string): SecretSpan {
  return { from, start, end, until, kind }
}

function exec(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  const sticky = new RegExp(pattern.source, `${pattern.flags}y`)
  sticky.lastIndex = at
  return sticky.exec(text)
}

const announced =
  /(?:(?:ke|Ke|KE)[yY]|(?:wor|Wor|WOR|ssw|SSW|pw|Pw|PW)[dD]|(?:ras|RAS)[eE]|(?:cre|CRE)[tT]|(?:oke|OKE)[nN]|(?:zatio|ZATIO)[nN]|(?:tia|TIA)l?[lLsS]|nature|[?&]sig)(?:|["'`* ]|[\\"'`* ]{2,7})[:=]$/

const word = /^[A-Z]?[a-z]*[.!?:]*$/

function schemeAt(text: string, from: number): SecretSpan | undefined {
  const match = exec(/[a-z]+[ +]+((?:[\w.~+/=*%-]|\\+\/){8,})/i, text, from)
  const value = match?.[1]
  if (match === null || value === undefined) return undefined
  const basic = text[from + 1] === 'a'
  if (word.test(value) && (basic || value.length < 20)) return undefined
  const end = from + match[0].length
  return found(from, end - value.length, end, end, basic ? 'basic-credentials' : 'bearer-token')
}

function urlAt(text: string, from: number): SecretSpan | undefined {
  const match = exec(/:\\*\/\\*\/([^\s"'<>\\/?#]{1,512})@/, text, from)
  const user = match?.[1]
  if (match === null || user === undefined || (!user.includes(':') && user.length < 16)) return undefined
  const until = from + match[0].length
  return found(from, until - 1 - user.length, until - 1, until, 'url-credentials')
}

const names: readonly (readonly [string, RegExp])[] = [
  [
    'api-key',
    /(?:api|access|secret|private|account|auth|signing|encryption|client|service|master|subscription|shared|storage|webhook)[-_. ]?key/,
  ],
  ['password', /(?:password|passwd|passphrase|pwd)/],
  ['secret', /secret/],
  ['token', /token/],
  ['credential', /credentials?/],
  ['authorization', /authorization/],
  ['signature', /x-amz-signature/],
  ['signature', /[?&]sig/],
]

function valueAt(text: string, at: number): SecretSpan | undefined {
  const before = text.slice(Math.max(0, at - 48), at - 1)
  const skipped = at - 1 - before.length
  for (const [kind, name] of names) {
    const match = new RegExp(`${name.source}[\\\\"'\`* ]{0,7}$`, 'i').exec(before)
    if (match !== null) return namedValueAt(text, at, kind, skipped + match.index)
  }
  return undefined
}

function namedValueAt(text: string, at: number, kind: string, from: number): SecretSpan | undefined {
  const opened = exec(/[=>]?\s*(\\*)(["'`]?)/, text, at)
  if (opened === null) return undefined
  const start = at + opened[0].length
  const quote = opened[2]
  if (quote === '') {
    if (text[at - 2] === '"') return undefined
    const match = exec(
      /(?:(?:Bearer|Basic|Token|ApiKey|Digest)[ +]+)?((?:[^\s"'`\\,;&<>(){}[\]|]|\\+\/)+)/i,
      text,
      start,
    )
    const value = match?.[1] ?? ''
    if (value.length < 8 || (value.length < 20 && word.test(value))) return undefined
    const end = start + (match?.[0].length ?? 0)
    return found(from, end - value.length, end, end, kind)
  }
  const end = quote === '"' ? closingQuote(text, start, opened[1]?.length ?? 0) : closingMark(text, start)
  return end - start < (kind === 'token' ? 16 : 8) ? undefined : found(from, start, end, end, kind)
}

function closingMark(text: string, start: number): number {
  return start + (exec(/[^'"`\\\r\n]*/, text, start)?.[0].length ?? 0)
}

function closingQuote(text: string, start: number, depth: number): number {
  for (const { index } of text.slice(start).matchAll(/"/g)) {
    const at = start + index
    const slashes = /\\*$/.exec(text.slice(start, at))?.[0].length ?? 0
    if (slashes < depth || slashes % (2 * depth + 2) === depth) return at - Math.min(slashes, depth)
  }
  return text.length
}

function pemAt(text: string, at: number): SecretSpan | undefined {
  const match = exec(
    /BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s:,]|\\+[nrt/]|-(?!----))*(?:-----END [A-Z0-9 ]{0,40}-----)?/,
    text,
    at,
  )
  if (match === null) return undefined
  const end = at + match[0].length
  return found(at - 5, at - 5, end, end, 'private-key')
}

function pemTailAt(text: string, at: number, least: number): SecretSpan | undefined {
  const match = exec(/END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY/, text, at)
  if (match === null) return undefined
  const block = /[A-Za-z0-9+/=\r\n\\]*$/.exec(text.slice(least, at - 5))?.[0] ?? ''
  const start = at - 5 - block.length
  const end = at + match[0].length
  return found(start, start, end, end, 'private-key')
}

/** The kind, the characters up to the first rare one, and the pattern from its beginning. */
const tokens: readonly (readonly [string, string, RegExp])[] = [
  ['anthropic-key', 'sk-', /sk-(?=ant-)[\w*-]{16,}/],
  ['openrouter-key', 'sk-', /sk-(?=or-)[\w*-]{16,}/],
  ['cerebras-key', 'csk-', /csk-[\w*-]{16,}/],
  ['openai-key', 'sk-', /sk-[\w*-]{12,}/],
  ['groq-key', 'gsk_', /gsk_[\w*-]{16,}/],
  ['stripe-key', 'sk_', /sk_(?=live_|test_)[\w*-]{16,}/],
  ['stripe-key', 'rk_', /rk_(?=live_)[\w*-]{16,}/],
  ['api-key', 'sk_', /sk_[\w*-]{24,}/],
  ['google-key', 'AI', /AI(?=za)[\w-]{26,}/],
  ['google-token', 'GOCSPX-', /GOCSPX-[\w*-]{16,}/],
  ['aws-key-id', 'AKI', /AKI(?=A)[A-Z0-9]{13,}/],
  ['aws-key-id', 'ASI', /ASI(?=A)[A-Z0-9]{13,}/],
  ['github-token', 'github_', /github_(?=pat_)[\w*-]{20,}/],
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((start) => keyOf('github-token', start)),
  ['gitlab-token', 'glpat-', /glpat-[\w.-]{12,}/],
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xoxc-', 'xoxd-', 'xapp-'].map(
    (start) => ['slack-token', start, new RegExp(`${start}[\\w%.-]{10,}`)] as const,
  ),
  keyOf('huggingface-token', 'hf_'),
  keyOf('xai-key', 'xai-'),
  keyOf('replicate-token', 'r8_'),
  keyOf('perplexity-key', 'pplx-'),
  keyOf('nvidia-key', 'nvapi-'),
  keyOf('npm-token', 'npm_'),
  keyOf('pypi-token', 'pypi-'),
  ['sendgrid-key', 'SG', /SG\.[\w.-]{16,}/],
  ['jwt', 'eyJ', /eyJ(?:[\w-]{8,}(?:\.[\w-]*)+|[\w-]{200,})/],
  ['tollgate-key', 'tg-', /tg-[\w*-]{12,}/],
]

function keyOf(kind: string, start: string): readonly [string, string, RegExp] {
  return [kind, start, new RegExp(`${start}[\\w*-]{16,}`)]
}

function tokenAt(text: string, at: number): SecretSpan | undefined {
  for (const [kind, trigger, pattern] of tokens) {
    const from = at - trigger.length
    const match = text.slice(Math.max(0, from), at) === trigger ? exec(pattern, text, from) : null
    if (match === null) continue
    const end = from + match[0].length
    const body = text.slice(at, end)
    const isRandom = /[0-9]/.test(body) && /[A-Z]/.test(body) && /[a-z]/.test(body)
    const before = text.slice(0, from)
    const begins = !/[A-Za-z0-9]$/.test(before) || /(?:\\[nrtbf]|%[0-9A-Fa-f]{2})$/.test(before)
    if (begins || isRandom) return found(from, from, end, end, kind)
  }
  return undefined
}
