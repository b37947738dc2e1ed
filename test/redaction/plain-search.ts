import { percentDecoded, unicodeDecoded } from '../../src/redaction/escapes.ts'
import {
  bareCharacters,
  base64Characters,
  capitalsAndDigits,
  dottedCharacters,
  hexDigits,
  keyCharacters,
  lettersAndDigits,
  slackCharacters,
  wordCharacters,
} from '../../src/redaction/runs.ts'
import { mergeSpans, type SecretSpan } from '../../src/redaction/secret-span.ts'
import { shortTextMax } from '../../src/redaction/secrets.ts'
import { jwtCharacters, tokens, type VendorForm, webhooks } from '../../src/redaction/vendor-forms.ts'

/**
 * What a secret is, by one plain pattern for each kind, and without any care for time: some of these searches are quadratic. The product
 * must find the same.
 */
export function plainSearch(text: string): SecretSpan[] {
  const decoded = unicodeDecoded(text)
  return decoded === undefined ? searchInUrl(text) : searchInUrl(decoded.text).map(decoded.original)
}

function searchInUrl(text: string): SecretSpan[] {
  const spans = searchOnce(text)
  const decoded = percentDecoded(text)
  return decoded === undefined
    ? spans
    : mergeSpans([...spans, ...searchOnce(decoded.text).map(decoded.original)])
}

function searchOnce(text: string): SecretSpan[] {
  const others = text.length <= shortTextMax ? searchFrom(text, /[.pg]/) : []
  return mergeSpans([...searchFrom(text, /[^.pg]/), ...others])
}

/** `last`: of a character by which the search stops. */
function searchFrom(text: string, last: RegExp): SecretSpan[] {
  const spans: SecretSpan[] = []
  for (let at = 1; at <= text.length; at++) {
    if (!last.test(text[at - 1] ?? '')) continue
    const span = secretAt(text, at, spans.at(-1)?.end ?? 0)
    if (span === undefined) continue
    spans.push(span)
    at = span.end
  }
  return spans
}

/** `at`: after the character by which the search stops. */
function secretAt(text: string, at: number, least: number): SecretSpan | undefined {
  const before = text.slice(Math.max(0, at - 32), at)
  const behind = text.slice(at)
  const last = text[at - 1]
  if (/^(?:earer[ +]|asic )/.test(behind) && /[bB]/.test(last ?? '')) return schemeAt(text, at - 1)
  if (last === ':' && /^\\*\/\\*\//.test(behind)) {
    return urlAt(text, at - 1) ?? valueAt(text, at)
  }
  if (announced.test(before)) return valueAt(text, at) ?? (last === ':' ? tokenAt(text, at) : undefined)
  if (before.endsWith('-----') && /^BEGIN[ +]/.test(behind)) return pemAt(text, at)
  if (before.endsWith('-----') && /^END[ +]/.test(behind)) return pemTailAt(text, at, least)
  const token = tokenAt(text, at)
  if (token !== undefined) return token
  if (last === '-') return optionAt(text, at)
  if (last === '_') return definedAt(text, at)
  return last === 'g' ? netrcAt(text, at) : undefined
}

/** `--password x`, `curl -u user:x`, `sshpass -p x`. */
function optionAt(text: string, at: number): SecretSpan | undefined {
  const before = text.slice(0, at)
  const name = exec(/[\w-]{0,32}/, text, at)?.[0] ?? ''
  const isLong = before.endsWith('--')
  if (!/[A-Za-z]/.test(text[at] ?? '')) return undefined
  if (isLong ? name === 'user' : text[at] === 'u') {
    const last = before.lastIndexOf('curl')
    if (last === -1 || at - last > 256) return undefined
    const { start, end } = anyValue(text, spacesEnd(text, at + name.length))
    const colon = text.slice(start, end).indexOf(':')
    if (colon === -1 || start + colon + 1 >= end) return undefined
    return found(last, start + colon + 1, end, end, 'password')
  }
  if (!isLong) {
    if (!before.endsWith('sshpass -') || text[at] !== 'p') return undefined
    return lineValue(text, at - 9, spacesEnd(text, at + 1), 1, 'password')
  }
  const kind = text[at + name.length] === ' ' ? nameBefore(text, at + name.length) : undefined
  if (kind === undefined || kind.from < at) return undefined
  return lineValue(text, at - 2, spacesEnd(text, at + name.length), 8, kind.kind)
}

function lineValue(text: string, from: number, at: number, least: number, kind: string) {
  const { start, end } = anyValue(text, at)
  if (end - start < least || text[start] === '-') return undefined
  if (least > 1 && end - start < 20 && word.test(text.slice(start, end))) return undefined
  return found(from, start, end, end, kind)
}

function spacesEnd(text: string, at: number): number {
  return at + (exec(/\s*/, text, at)?.[0].length ?? 0)
}

/** PHP's `define('X_KEY', 'x')`. */
function definedAt(text: string, at: number): SecretSpan | undefined {
  const name = /define\(\s{0,4}\\{0,15}["']([\w-]{0,31}_)$/.exec(text.slice(0, at))
  const match = exec(
    /(?:PASSWORD|PASSWD|PASS|PWD|KEY|SALT|SECRET|TOKEN)\\{0,15}["']\s{0,4},\s{0,4}\\{0,15}["']([^'"\\\r\n]+)/,
    text,
    at,
  )
  if (name === null || match === null) return undefined
  const end = at + match[0].length
  return found(name.index, end - (match[1] ?? '').length, end, end, 'secret')
}

/** `login x password y`. */
function netrcAt(text: string, at: number): SecretSpan | undefined {
  const gap = '(?:\\s|\\\\{1,15}[nt]){1,8}'
  const match = exec(
    new RegExp(`in${gap}[^\\s"'\`\\\\,;&<>(){}[\\]|]{1,64}${gap}(?=password(${gap}))`),
    text,
    at,
  )
  if (match === null || !text.slice(0, at).endsWith('log')) return undefined
  const from = at + match[0].length
  const { start, end } = anyValue(text, from + 'password'.length + (match[1] ?? '').length)
  if (start === end || (end - start < 20 && word.test(text.slice(start, end)))) return undefined
  return found(at - 3, start, end, end, 'password')
}

function found(from: number, start: number, end: number, until: number, kind: string): SecretSpan {
  return { from, start, end, until, kind }
}

const stickies = new Map<RegExp, RegExp>()

function exec(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  const sticky = stickies.get(pattern) ?? new RegExp(pattern.source, `${pattern.flags}y`)
  if (patternsKept.has(pattern)) stickies.set(pattern, sticky)
  sticky.lastIndex = at
  return sticky.exec(text)
}

const announced =
  /(?:(?:ke|Ke|KE)[yY]|(?:wor|Wor|WOR|ssw|SSW|pw|Pw|PW)[dD]|(?:ras|RAS|oki|OKI|_bas|_BAS)[eE]|(?:cre|CRE)[tT]|(?:oke|OKE)[nN]|(?:zatio|ZATIO)[nN]|(?:tia|TIA)l?[lLsS]|(?:pas|Pas|PAS)[sS]|(?:aut|AUT)[hH]|nature|[?&]sig)(?:|["'`* ]|[\\"'`* ]{2,7})[:=>]$/

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
  const user = match?.[1] ?? ''
  if (user.includes(':') || user.length >= 16) {
    const until = from + (match?.[0].length ?? 0)
    return found(from, until - 1 - user.length, until - 1, until, 'url-credentials')
  }
  const address = exec(/:\\*\/\\*\/([^\s"'<>\\/?#]{1,513})/, text, from)
  const form = webhooks.find(({ host }) => (address?.[1] ?? '').endsWith(host))
  if (address === null || form === undefined) return undefined
  const value = exec(
    new RegExp(`${form.path.source}(${classes.get(bareCharacters)}{16,})`),
    text,
    from + address[0].length,
  )
  const end = from + address[0].length + (value?.[0].length ?? 0)
  return value === null ? undefined : found(from, end - (value[1] ?? '').length, end, end, 'webhook-address')
}

const names: readonly (readonly [string, RegExp])[] = [
  [
    'api-key',
    /(?:api|access|secret|private|account|auth|signing|encryption|client|service|master|subscription|shared|storage|webhook)[-_. ]?key(?:_base)?/,
  ],
  ['password', /(?:password|passwd|passphrase|pwd)/],
  ['secret', /secret/],
  ['token', /token/],
  ['credential', /credentials?/],
  ['authorization', /authorization/],
  ['signature', /x-amz-signature/],
  ['signature', /[?&]sig/],
  ['pass', /pass/],
  ['cookie', /cookie/],
  ['auth', /auth/],
]

function nameBefore(text: string, at: number): { from: number; kind: string } | undefined {
  const before = text.slice(Math.max(0, at - 64), at)
  const skipped = at - before.length
  for (const [kind, name] of names) {
    const match = new RegExp(`${name.source}[\\\\"'\`* ]{0,16}$`, 'i').exec(before)
    if (match === null) continue
    const from = skipped + match.index
    if (kind !== 'pass') return { from, kind }
    const upTo = text.slice(0, from + 4).replace(/\\[nrtbf](?=pass$)/i, '\n\n')
    const isVerdict = /(?:[^\w-]|^)PASS$/.test(upTo) && text[at] === ':'
    const isName = /(?:[^A-Za-z]|^)[A-Za-z]{4}$|[a-z]P[A-Za-z]{3}$/.test(upTo)
    return isName && !isVerdict ? { from, kind: 'password' } : undefined
  }
  return undefined
}

function valueAt(text: string, at: number): SecretSpan | undefined {
  const name = nameBefore(text, at - 1)
  if (name === undefined) return undefined
  const { kind } = name
  const element = /<[\w-]{0,32}$/.exec(text.slice(0, name.from))
  if (text[at - 1] === '>' && element === null) return undefined
  const from = text[at - 1] === '>' ? (element?.index ?? 0) : name.from
  const behind = at + (exec(/[=>]?\s*/, text, at)?.[0].length ?? 0)
  if (kind === 'cookie') {
    const match = text[at - 1] === ':' ? exec(/\\*(?:["'`](?=[\w!#$%&*.^|~-]{1,64}=))?/, text, behind) : null
    if (match === null) return undefined
    const start = /["'`]$/.test(match[0]) ? behind + match[0].length : behind
    if (exec(/[\w!#$%&*.^|~-]{1,64}=/, text, start) === null) return undefined
    const end = closingMark(text, start)
    return end - start < 8 ? undefined : found(from, start, end, end, kind)
  }
  if (kind === 'auth') {
    const match = text[from - 1] === '"' ? exec(/\\*"((?:[\w+/=-]|\\+\/)*)\\*"/, text, behind) : null
    const value = match?.[1] ?? ''
    if (value.length < 8 || /[-_]/.test(value) || (value.length < 20 && !/[0-9+/=]/.test(value)))
      return undefined
    const start = behind + (match?.[0] ?? '').indexOf('"') + 1
    return found(
      from - 1,
      start,
      start + value.length,
      behind + (match?.[0].length ?? 0),
      'basic-credentials',
    )
  }
  const { start, end, isQuoted } = anyValue(text, behind)
  const key = text.startsWith('-----BEGIN', start) ? pemAt(text, start + 5) : undefined
  if (key !== undefined) return { ...key, from }
  if (!isQuoted) {
    if (text[at - 2] === '"') return undefined
    if (end - start < 8 || (end - start < 20 && word.test(text.slice(start, end)))) return undefined
  } else if (end - start < (kind === 'token' ? 16 : 8)) return undefined
  return found(from, start, end, end, kind)
}

function anyValue(text: string, at: number): { start: number; end: number; isQuoted: boolean } {
  const opened = exec(/(\\*)(["'`]?)/, text, at)
  const start = at + (opened?.[0].length ?? 0)
  const quote = opened?.[2] ?? ''
  if (quote !== '') {
    const end = quote === '"' ? closingQuote(text, start, opened?.[1]?.length ?? 0) : closingMark(text, start)
    return { start, end, isQuoted: true }
  }
  const match = exec(
    /(?:(?:Bearer|Basic|Token|ApiKey|Digest)[ +]+)?((?:[^\s"'`\\,;&<>(){}[\]|]|\\+\/)+)/i,
    text,
    start,
  )
  const end = start + (match?.[0].length ?? 0)
  return { start: end - (match?.[1]?.length ?? 0), end, isQuoted: false }
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
    /BEGIN[ +](?:[A-Z0-9]+[ +]){0,3}PRIVATE[ +]KEY(?:[ +]BLOCK)?-----(?:[A-Za-z0-9+/=\s:,]|\\+[nrt/]|-(?!----)|%[0-9a-fA-F]{2})*(?:-----END[ +][A-Z0-9 +]{0,40}-----)?/,
    text,
    at,
  )
  if (match === null) return undefined
  const end = at + match[0].length
  return found(at - 5, at - 5, end, end, 'private-key')
}

function pemTailAt(text: string, at: number, least: number): SecretSpan | undefined {
  const match = exec(/END[ +](?:[A-Z0-9]+[ +]){0,3}PRIVATE[ +]KEY/, text, at)
  if (match === null) return undefined
  const block = /[A-Za-z0-9+/=\r\n\\]*$/.exec(text.slice(least, at - 5))?.[0] ?? ''
  const start = at - 5 - block.length
  const end = at + match[0].length
  return found(start, start, end, end, 'private-key')
}

/** The characters of each kind, as a pattern. */
const classes: ReadonlyMap<number, string> = new Map([
  [keyCharacters, '[\\w*-]'],
  [wordCharacters, '[\\w-]'],
  [dottedCharacters, '[\\w.-]'],
  [slackCharacters, '[\\w%.-]'],
  [capitalsAndDigits, '[A-Z0-9]'],
  [lettersAndDigits, '[A-Za-z0-9]'],
  [hexDigits, '[0-9a-fA-F]'],
  [base64Characters, '(?:[\\w+/=-]|\\\\+/)'],
  [bareCharacters, '(?:[^\\s"\'`\\\\,;&<>(){}[\\]|]|\\\\+/)'],
])

/** The pattern of a token from its beginning. */
function patternOf({ start, trigger, least, characters }: VendorForm): RegExp {
  if (characters === jwtCharacters) return /eyJ(?:[\w-]{8,}(?:\.[\w-]*)+|[\w-]{200,})/
  return new RegExp(
    `${escaped(trigger)}(?=${escaped(start.slice(trigger.length))})${classes.get(characters)}{${least},}`,
  )
}

const escaped = (text: string) => text.replaceAll('.', '\\.')
const patterns = tokens.map((form) => ({ form, pattern: patternOf(form) }))
const patternsKept = new Set(patterns.map(({ pattern }) => pattern))

const shapes: readonly (readonly [string, RegExp, RegExp])[] = [
  ['telegram-token', /(?<![0-9])[0-9]{5,16}:$/, /A[\w-]{33,36}/],
  ['discord-token', /(?<![\w-])[\w-]{23,28}\.$/, /[\w-]{6}\.[\w-]{27,40}/],
  ['terraform-token', /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv$/, /1\.[\w=-]{40,70}/],
  ['databricks-token', /(?<![A-Za-z0-9])dap$/, /i[0-9a-f]{32}(?:-[0-9])?/],
]

/** Without one of these, a text is not searched for the tokens of Discord, which begin with M, N or O. */
const discordSigns = /dapi|dp\.|login|[MNO][\w-]{22}/

function tokenAt(text: string, at: number): SecretSpan | undefined {
  for (const { form, pattern } of patterns) {
    const { kind, start, trigger, characters } = form
    const from = at - trigger.length
    if (from < 0 || !text.startsWith(trigger, from)) continue
    const match = exec(pattern, text, from)
    if (match === null) continue
    const end = from + match[0].length
    const body = text.slice(at, end)
    const isRandom = /[0-9]/.test(body) && /[A-Z]/.test(body) && /[a-z]/.test(body)
    const before = text.slice(0, from)
    const begins = !/[A-Za-z0-9]$/.test(before) || /(?:\\[nrtbf]|%[0-9A-Fa-f]{2})$/.test(before)
    const mayBeBase64 =
      characters === base64Characters ||
      ([lettersAndDigits, wordCharacters].includes(characters) && /^[A-Za-z0-9]+$/.test(start))
    if (begins || (isRandom && !mayBeBase64)) return found(from, from, end, end, kind)
  }
  if (!/[:.vp]/.test(text[at - 1] ?? '')) return undefined
  for (const [kind, before, behind] of shapes) {
    if (kind === 'discord-token' && !discordSigns.test(text)) continue
    if (exec(behind, text, at) === null) continue
    // The letter of a JSON escape, and the digits of one of a URL, are not a part of the secret.
    const head = text
      .slice(0, at)
      .replace(/\\[nrtbf]|%[0-9A-Fa-f]{2}/g, (written) => '\n'.repeat(written.length))
    const match = before.exec(head)
    const tail = match === null ? null : exec(behind, text, at)
    if (match !== null && tail !== null && !/[A-Za-z0-9]$/.test(head.slice(0, match.index)))
      return found(match.index, match.index, at + tail[0].length, at + tail[0].length, kind)
  }
  return undefined
}
