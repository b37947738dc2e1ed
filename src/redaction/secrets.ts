/** One secret in a text. Only `start` to `end` is replaced. */
export interface SecretSpan {
  /** Where the words that give it away begin: a key name, `Bearer`, or the secret itself. */
  from: number
  start: number
  end: number
  /** Behind the last character that gives it away, such as the `@` of a URL's credentials. */
  until: number
  kind: string
}

/**
 * Every secret in a text, in order, without overlaps. Works on any text whose ASCII is readable, so also on
 * bytes decoded as latin1. `exact` are secrets known by value, whatever their form; shorter than 8: ignored.
 *
 * One scan finds rare trigger characters by what stands before them; only there is anything looked at closely.
 */
export function findSecrets(text: string, exact: readonly string[] = []): SecretSpan[] {
  let spans = none
  let end = 0
  trigger.lastIndex = 0
  while (trigger.test(text)) {
    const span = secretAt(text, trigger.lastIndex, end)
    if (span === undefined) continue
    if (spans === none) spans = []
    spans.push(span)
    end = span.end
    trigger.lastIndex = end
  }
  for (const secret of exact) {
    if (secret.length < exactLengthMin || !text.includes(rarePart(secret)) || !text.includes(secret)) continue
    spans = merge([...spans, ...occurrences(text, secret)])
  }
  return spans
}

/** The text with each span replaced by `[REDACTED kind]`, which no JSON string has to escape. */
export function replaceSpans(text: string, spans: readonly SecretSpan[]): string {
  let out = ''
  let at = 0
  for (const span of spans) {
    out += `${text.slice(at, span.start)}[REDACTED ${span.kind}]`
    at = span.end
  }
  return out + text.slice(at)
}

const none: SecretSpan[] = []
const exactLengthMin = 8

interface Token {
  /** How it begins. The trigger is its first rare character, and all before it. */
  start: string
  trigger: string
  kind: string
  /** What follows the trigger, sticky. */
  body: RegExp
}

const token = (kind: string, start: string, trigger: string, rest: string): Token => ({
  kind,
  start,
  trigger,
  body: new RegExp(rest, 'y'),
})

/** Asterisks belong to keys that an upstream shows half masked in its error. */
const key = (least: number) => `[\\w*-]{${least},}`

/** Longer starts first, also those that end as others begin: the first that fits names the kind. */
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
  // A header that is cut before its dot is still told from other base64 by its length.
  token('jwt', 'eyJ', 'eyJ', '[\\w-]{8,}(?:\\.[\\w-]*)+|[\\w-]{200,}'),
  token('tollgate-key', 'tg-', 'tg-', key(12)),
]

/** Names whose value is a secret, at the end of what stands before `:` or `=`. */
const secretName =
  /(?:(api|access|secret|private|account|auth|signing|encryption|client|service|master|subscription|shared|storage|webhook)[-_. ]?key|(password|passwd|passphrase|pwd)|(secret)|(token)|(credentials?)|(authorization)|x-amz-(signature)|[?&](sig))[\\"'`* ]{0,7}$/i
const secretNameKinds = [
  'api-key',
  'password',
  'secret',
  'token',
  'credential',
  'authorization',
  'signature',
  'signature',
]
const nameLengthMax = 48
/** How those names end, the last letters first to differ: cheap to refuse. */
const nameEnding =
  '(?:(?:ke|Ke|KE)[yY]|(?:wor|Wor|WOR|ssw|SSW|pw|Pw|PW)[dD]|(?:ras|RAS)[eE]|(?:cre|CRE)[tT]|(?:oke|OKE)[nN]' +
  '|(?:zatio|ZATIO)[nN]|(?:tia|TIA)l?[lLsS]|nature|[?&]sig)'

const trigger = new RegExp(
  [
    ...byLastCharacter(tokens).map(([last, starts]) => `${last}(?<=${starts.join('|')})`),
    '-(?=BEGIN |END )(?<=-----)',
    ':(?=\\\\*/\\\\*/)',
    // Most colons follow other letters and other quotes: the commonest are refused first.
    `[:=](?<=(?:${nameEnding}|${nameEnding}["'\`* ]|${nameEnding}[\\\\"'\`* ]{2,7})[:=])`,
    '[bB](?=earer[ +]|asic )',
  ].join('|'),
  'g',
)

function byLastCharacter(rows: readonly Token[]): [string, string[]][] {
  const groups = new Map<string, string[]>()
  for (const { trigger: start } of rows) {
    const last = start.slice(-1)
    const starts = groups.get(last) ?? []
    if (!starts.includes(start)) starts.push(start)
    groups.set(last, starts)
  }
  return [...groups]
}

/** The secret that the trigger character just before `at` belongs to; it may not begin before `least`. */
function secretAt(text: string, at: number, least: number): SecretSpan | undefined {
  const character = text[at - 1]
  switch (character) {
    case 'b':
    case 'B':
      return schemeAt(text, at - 1)
    case ':':
      return text[at] === '/' || text[at] === '\\'
        ? (urlAt(text, at - 1) ?? valueAt(text, at))
        : valueAt(text, at)
    case '=':
      return valueAt(text, at)
    case '-':
      if (text.startsWith('BEGIN ', at)) return pemAt(text, at)
      if (text.startsWith('END ', at)) return pemTailAt(text, at, least)
  }
  return tokenAt(text, at)
}

function tokenAt(text: string, at: number): SecretSpan | undefined {
  for (const { start, trigger: head, kind, body } of tokens) {
    const from = at - head.length
    if (from < 0 || !text.startsWith(start, from)) continue
    body.lastIndex = at
    if (!body.test(text)) continue
    // "task-..." and "desk-..." are words; glued to letters, only what looks random is a key.
    if (!startsToken(text, from) && !looksRandom(text.slice(at, body.lastIndex))) continue
    return { from, start: from, end: body.lastIndex, until: body.lastIndex, kind }
  }
  return undefined
}

/** True where no letter or digit stands before, other than one of a JSON or URL escape. */
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

const schemeValue = /[a-z]+[ +]+((?:[\w.~+/=*%-]|\\+\/){8,})/iy

/** `Bearer x` and `Basic x`, but not "basic understanding". */
function schemeAt(text: string, from: number): SecretSpan | undefined {
  schemeValue.lastIndex = from
  const value = schemeValue.exec(text)?.[1]
  if (value === undefined) return undefined
  const basic = text[from + 1] === 'a'
  if (isWord(value) && (basic || value.length < wordLengthMax)) return undefined
  const end = schemeValue.lastIndex
  return {
    from,
    start: end - value.length,
    end,
    until: end,
    kind: basic ? 'basic-credentials' : 'bearer-token',
  }
}

/** Longer ones are taken for secrets. */
const wordLengthMax = 20

/** A word of prose, as in "password: required." */
function isWord(text: string): boolean {
  return /^[A-Z]?[a-z]*[.!?:]*$/.test(text)
}

const urlCredentials = /:\\*\/\\*\/([^\s"'<>\\/?#]{1,512})@/y

function urlAt(text: string, from: number): SecretSpan | undefined {
  urlCredentials.lastIndex = from
  const user = urlCredentials.exec(text)?.[1]
  if (user === undefined || (!user.includes(':') && user.length < 16)) return undefined
  const end = urlCredentials.lastIndex - 1
  return { from, start: end - user.length, end, until: end + 1, kind: 'url-credentials' }
}

const opening = /[=>]?\s*(\\*)(["'`]?)/y
const bareValue = /(?:(?:Bearer|Basic|Token|ApiKey|Digest)[ +]+)?((?:[^\s"'`\\,;&<>(){}[\]|]|\\+\/)+)/iy
const quotedValue = /[^'"`\\\r\n]*/y
const valueLengthMin = 8

/** The value that a secret's name, `:` or `=` announces; `at` is just behind that sign. */
function valueAt(text: string, at: number): SecretSpan | undefined {
  const before = text.slice(Math.max(0, at - 1 - nameLengthMax), at - 1)
  const name = secretName.exec(before)
  if (name === null) return undefined
  const kind =
    secretNameKinds[name.findIndex((group, index) => index > 0 && group !== undefined) - 1] ?? 'secret'
  const from = at - 1 - name[0].length
  opening.lastIndex = at
  const opened = opening.exec(text)
  if (opened === null) return undefined
  const start = opening.lastIndex
  const quote = opened[2]
  if (quote === '') {
    // JSON numbers, objects and null: nothing that could be replaced by text.
    if (before.endsWith('"')) return undefined
    bareValue.lastIndex = start
    const value = bareValue.exec(text)?.[1] ?? ''
    const end = bareValue.lastIndex
    if (value.length < valueLengthMin || (value.length < wordLengthMax && isWord(value))) return undefined
    return { from, start: end - value.length, end, until: end, kind }
  }
  const end =
    quote === '"' ? closingQuote(text, start, opened[1]?.length ?? 0) : endOf(quotedValue, text, start)
  if (end - start < (kind === 'token' ? 2 * valueLengthMin : valueLengthMin)) return undefined
  return { from, start, end, until: end, kind }
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  pattern.test(text)
  return pattern.lastIndex
}

/**
 * Where a JSON string ends whose opening quote has `depth` backslashes (0, 1, 3: text inside text). A closing quote
 * has as many, plus escaped backslashes of the value; fewer mean that an outer string ended first.
 */
function closingQuote(text: string, start: number, depth: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (at - slashes > start && text[at - slashes - 1] === '\\') slashes++
    if (slashes < depth || slashes % (2 * depth + 2) === depth) return at - Math.min(slashes, depth)
  }
  return text.length
}

const pemHeader = /BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/y
const pemBody = /(?:[A-Za-z0-9+/=\s:,]+|\\+[nrt/]|-(?!----))*(?:-----END [A-Z0-9 ]{0,40}-----)?/y
const pemFooter = /END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY/y

/** A private key from its first line on, also one whose last line is missing. */
function pemAt(text: string, at: number): SecretSpan | undefined {
  pemHeader.lastIndex = at
  if (!pemHeader.test(text)) return undefined
  const end = endOf(pemBody, text, pemHeader.lastIndex)
  return { from: at - 5, start: at - 5, end, until: end, kind: 'private-key' }
}

/** The end of a private key whose first line was cut off. */
function pemTailAt(text: string, at: number, least: number): SecretSpan | undefined {
  pemFooter.lastIndex = at
  if (!pemFooter.test(text)) return undefined
  let start = at - 5
  while (start > least && /[A-Za-z0-9+/=\r\n\\]/.test(text.charAt(start - 1))) start--
  return { from: start, start, end: pemFooter.lastIndex, until: pemFooter.lastIndex, kind: 'private-key' }
}

/** Six characters, the first of them rare in text where possible: found several times faster than the whole. */
function rarePart(secret: string): string {
  const at = Math.max(0, Math.min(secret.search(/[A-Z0-9_-]/), secret.length - 6))
  return secret.slice(at, at + 6)
}

function occurrences(text: string, secret: string): SecretSpan[] {
  const spans: SecretSpan[] = []
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length)) {
    const end = at + secret.length
    spans.push({ from: at, start: at, end, until: end, kind: 'key' })
  }
  return spans
}

function merge(spans: SecretSpan[]): SecretSpan[] {
  const merged: SecretSpan[] = []
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1)
    if (last !== undefined && span.start < last.end) {
      const from = Math.min(last.from, span.from)
      const until = Math.max(last.until, span.until)
      merged[merged.length - 1] = { ...last, from, end: Math.max(last.end, span.end), until }
    } else {
      merged.push(span)
    }
  }
  return merged
}
