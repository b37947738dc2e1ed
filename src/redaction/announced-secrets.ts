import {
  backslashes,
  bareCharacters,
  base64Characters,
  capitals,
  gaps,
  isAt,
  isWord,
  letters,
  notAtSigns,
  quotedCharacters,
  quotes,
  runEnd,
  runStart,
  schemeCharacters,
  spaces,
  urlUserCharacters,
  valueEnd,
  wordCharacters,
} from './runs.ts'
import type { SecretSpan } from './secret-span.ts'
import { pemAt } from './secret-tokens.ts'
import { webhooks } from './vendor-forms.ts'

// Finds secrets that the preceding text announces: `Bearer x`, `https://user:x@host`, `password: x`,
// `<password>x`.

/**
 * The endings of the names in `secretName`. Most other words already differ in their last letter, which makes
 * rejecting them cheap.
 */
const nameEnding =
  '(?:(?:ke|Ke|KE)[yY]|(?:wor|Wor|WOR|ssw|SSW|pw|Pw|PW)[dD]|(?:ras|RAS|oki|OKI|_bas|_BAS)[eE]|(?:cre|CRE)[tT]|(?:oke|OKE)[nN]' +
  '|(?:zatio|ZATIO)[nN]|(?:tia|TIA)l?[lLsS]|(?:pas|Pas|PAS)[sS]|(?:aut|AUT)[hH]|nature|[?&]sig)'

/** Matches the `:`, `=` or `>` after the name of a secret; one alternative of the scan's pattern. */
export const announcement =
  // Most colons follow other letters or quotes. The first alternatives reject the most common cases.
  `[:=>](?<=(?:${nameEnding}|${nameEnding}["'\`* ]|${nameEnding}[\\\\"'\`* ]{2,16})[:=>])`

/**
 * Finds the value of `Bearer x` or `Basic x`, but ignores prose such as "basic understanding". `from` is the
 * position of the first letter.
 */
export function schemeAt(text: string, from: number): SecretSpan | undefined {
  const basic = isBasic(text, from)
  const gap = from + (basic ? 'basic' : 'bearer').length
  let start = runEnd(text, gap, gaps)
  if (start === gap) return undefined
  const end = valueEnd(text, start, schemeCharacters)
  // A plus is a space in a URL, but it can also be the first character of a short value.
  while (
    lengthOf(text, start, end) < valueLengthMin &&
    start > gap + 1 &&
    text.charCodeAt(start - 1) === plusCode
  )
    start--
  if (lengthOf(text, start, end) < valueLengthMin) return undefined
  if (isWord(text, start, end) && (basic || end - start < wordLengthMax)) return undefined
  return { from, start, end, until: end, kind: basic ? 'basic-credentials' : 'bearer-token' }
}

function isBasic(text: string, from: number): boolean {
  return text.charCodeAt(from + 1) === 0x61
}

const plusCode = 0x2b
/** A word at least this long counts as a secret. */
const wordLengthMax = 20

/** The length of a value, not counting the backslashes that escape its slashes. */
function lengthOf(text: string, start: number, end: number): number {
  return text.slice(start, end).replaceAll('\\', '').length
}

const urlUserLengthMax = 512

/**
 * Finds the user and password of a URL, or the secret part of a webhook address. `from` is the position of
 * the colon, which is followed by slashes, possibly escaped.
 */
export function urlAt(text: string, from: number): SecretSpan | undefined {
  const first = runEnd(text, from + 1, backslashes)
  const second = runEnd(text, first + 1, backslashes)
  if (text.charAt(first) !== '/' || text.charAt(second) !== '/') return undefined
  const start = second + 1
  const runsTo = runEnd(text, start, urlUserCharacters, start + urlUserLengthMax + 1)
  const until = runStart(text, runsTo, notAtSigns, start)
  const end = until - 1
  if (end <= start || (end - start < 16 && !text.slice(start, end).includes(':')))
    return webhookAt(text, from, start, runsTo)
  return { from, start, end, until, kind: 'url-credentials' }
}

/** The host ends at `end`; it is matched by its ending. */
function webhookAt(text: string, from: number, start: number, end: number): SecretSpan | undefined {
  for (const { host, path } of webhooks) {
    if (end - start < host.length || !text.startsWith(host, end - host.length)) continue
    path.lastIndex = end
    if (!path.test(text)) return undefined
    const secret = path.lastIndex
    const until = valueEnd(text, secret, bareCharacters)
    return until - secret < 2 * valueLengthMin
      ? undefined
      : { from, start: secret, end: until, until, kind: 'webhook-address' }
  }
  return undefined
}

/**
 * Matches the name of a secret and any quotes after it, looking back from `lastIndex`. Group 1 is the whole
 * match. In JSON four levels deep, 15 backslashes precede a quote.
 */
const secretName =
  /(?<=((?:(api|access|secret|private|account|auth|signing|encryption|client|service|master|subscription|shared|storage|webhook)[-_. ]?key(?:_base)?|(password|passwd|passphrase|pwd)|(secret)|(token)|(credentials?)|(authorization)|x-amz-(signature)|[?&](sig)|(pass)|(cookie)|(auth))[\\"'`* ]{0,16}))/iy
const secretNameKinds = [
  'api-key',
  'password',
  'secret',
  'token',
  'credential',
  'authorization',
  'signature',
  'signature',
  'pass',
  'cookie',
  'auth',
] as const
const scheme = /(?:Bearer|Basic|Token|ApiKey|Digest)(?=[ +])/iy
const valueLengthMin = 8

/**
 * Returns where the name of a secret that ends before `at` begins, and the kind to show in its placeholder.
 */
export function secretNameBefore(text: string, at: number): { from: number; kind: string } | undefined {
  secretName.lastIndex = at
  const name = secretName.exec(text)
  if (name === null) return undefined
  const kind = secretNameKinds[name.findIndex((group, index) => index > 1 && group !== undefined) - 2]
  const from = at - (name[1] ?? '').length
  if (kind !== 'pass') return { from, kind: kind ?? 'secret' }
  return isPassword(text, from, at) ? { from, kind: 'password' } : undefined
}

/**
 * "bypass" and "compass" are ordinary words and "PASS:" is the verdict of a test, but "dbPass" and
 * "SMTP_PASS" are names of secrets.
 */
function isPassword(text: string, from: number, at: number): boolean {
  const begins = !isAt(text, from - 1, letters) || isEscape(text, from - 1)
  if (!begins) return text.charAt(from) === 'P' && !isAt(text, from - 1, capitals)
  const isVerdict = text.startsWith('PASS', from) && text.charAt(at) === ':'
  return !isVerdict || (isAt(text, from - 1, wordCharacters) && !isEscape(text, from - 1))
}

/** True for the letter of a JSON escape such as `\n`. */
function isEscape(text: string, at: number): boolean {
  return isAt(text, at - 1, backslashes) && 'nrtbf'.includes(text.charAt(at))
}

/** Finds the value in `password: x`, `api_key=x` or `<password>x`. `at` is just after the `:`, `=` or `>`. */
export function valueAt(text: string, at: number): SecretSpan | undefined {
  const name = secretNameBefore(text, at - 1)
  if (name === undefined) return undefined
  const { kind } = name
  const announced = text.charCodeAt(at - 1)
  const from = announced === greaterCode ? elementAt(text, name.from) : name.from
  if (from === -1) return undefined
  const operator = text.charCodeAt(at)
  const behind = runEnd(text, operator === equalsCode || operator === greaterCode ? at + 1 : at, spaces)
  if (kind === 'cookie') return announced === colonCode ? cookiesAt(text, behind, from) : undefined
  if (kind === 'auth') return loginAt(text, behind, from)
  const { start, end, isQuoted } = valueBehind(text, behind)
  // A private key spans lines, so it does not end where another value would.
  const key = text.startsWith('-----BEGIN', start) ? pemAt(text, start + 5) : undefined
  if (key !== undefined) return { ...key, from }
  const length = end - start
  if (!isQuoted) {
    // A JSON number, object or null: replacing it with text would break the JSON.
    if (text.charAt(at - 2) === '"') return undefined
    if (length < valueLengthMin || (length < wordLengthMax && isWord(text, start, end))) return undefined
  } else if (length < (kind === 'token' ? 2 * valueLengthMin : valueLengthMin)) return undefined
  return { from, start, end, until: end, kind }
}

/**
 * Returns the start of the XML element, such as `<db_password>`, whose name ends with the name at `from`; -1
 * if it is not an element.
 */
function elementAt(text: string, from: number): number {
  const start = runStart(text, from, wordCharacters, Math.max(0, from - 32)) - 1
  return text.charAt(start) === '<' ? start : -1
}

const cookieName = /[\w!#$%&*.^|~-]{1,64}=/y

/** The rest of the line after `Cookie:` or `Set-Cookie:`. */
function cookiesAt(text: string, behind: number, from: number): SecretSpan | undefined {
  const opened = runEnd(text, behind, backslashes)
  const start = isAt(text, opened, quotes) ? opened + 1 : behind
  cookieName.lastIndex = start
  if (!cookieName.test(text)) return undefined
  const end = runEnd(text, start, quotedCharacters)
  if (end - start < valueLengthMin) return undefined
  return { from, start, end, until: end, kind: 'cookie' }
}

/** The base64-encoded user and password that Docker stores as `"auth"`. */
function loginAt(text: string, behind: number, from: number): SecretSpan | undefined {
  const opened = runEnd(text, behind, backslashes)
  if (text.charAt(opened) !== '"' || text.charAt(from - 1) !== '"') return undefined
  const start = opened + 1
  const end = valueEnd(text, start, base64Characters)
  const closing = runEnd(text, end, backslashes)
  if (text.charAt(closing) !== '"' || end - start < valueLengthMin) return undefined
  const value = text.slice(start, end)
  if (/[-_]/.test(value) || (value.length < wordLengthMax && !/[0-9+/=]/.test(value))) return undefined
  return { from: from - 1, start, end, until: closing + 1, kind: 'basic-credentials' }
}

/** Returns the value that begins at `at`, which can be quoted or follow an authentication scheme. */
export function valueBehind(text: string, at: number): { start: number; end: number; isQuoted: boolean } {
  const opened = runEnd(text, at, backslashes)
  const quote = text.charAt(opened)
  if (quote !== '"' && quote !== "'" && quote !== '`') {
    const start = bareStart(text, opened)
    return { start, end: valueEnd(text, start, bareCharacters), isQuoted: false }
  }
  const start = opened + 1
  const end =
    quote === '"' ? nestedClosingQuote(text, start, opened - at) : runEnd(text, start, quotedCharacters)
  return { start, end, isQuoted: true }
}

const colonCode = 0x3a
const equalsCode = 0x3d
const greaterCode = 0x3e

/** Skips an authentication scheme if a value follows it. */
function bareStart(text: string, at: number): number {
  scheme.lastIndex = at
  if (!scheme.test(text)) return at
  const behind = runEnd(text, scheme.lastIndex, gaps)
  if (valueEnd(text, behind, bareCharacters) > behind) return behind
  // The value can begin with a plus.
  if (behind - 1 > scheme.lastIndex && text.charCodeAt(behind - 1) === plusCode) return behind - 1
  return at
}

/**
 * The end of a JSON string whose opening quote has `depth` backslashes (0, 1, 3: JSON within JSON). Its
 * closing quote has the same number, plus the escaped backslashes of the value. A quote with fewer
 * backslashes closes an enclosing string.
 */
function nestedClosingQuote(text: string, start: number, depth: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    const slashes = at - runStart(text, at, backslashes, start)
    if (slashes < depth || slashes % (2 * depth + 2) === depth) return at - Math.min(slashes, depth)
  }
  return text.length
}
