import {
  backslashes,
  bareCharacters,
  gaps,
  isWord,
  notAtSigns,
  quotedCharacters,
  runEnd,
  runStart,
  schemeCharacters,
  spaces,
  urlUserCharacters,
  valueEnd,
} from './runs.ts'
import type { SecretSpan } from './secret-span.ts'

// Secrets that the text before them announces: `Bearer x`, `https://user:x@host`, `password: x`.

/** The endings of the names in `secretName`. Other words mostly differ in the last letter, which refuses them cheaply. */
const nameEnding =
  '(?:(?:ke|Ke|KE)[yY]|(?:wor|Wor|WOR|ssw|SSW|pw|Pw|PW)[dD]|(?:ras|RAS)[eE]|(?:cre|CRE)[tT]|(?:oke|OKE)[nN]' +
  '|(?:zatio|ZATIO)[nN]|(?:tia|TIA)l?[lLsS]|nature|[?&]sig)'

/** The pattern of a `:` or `=` behind the name of a secret, for one scan. */
export const announcement =
  // Most colons stand behind other letters and other quotes. The first alternatives refuse the commonest.
  `[:=](?<=(?:${nameEnding}|${nameEnding}["'\`* ]|${nameEnding}[\\\\"'\`* ]{2,7})[:=])`

/** The value of `Bearer x` or `Basic x`, but not of "basic understanding". `from` is the first letter. */
export function schemeAt(text: string, from: number): SecretSpan | undefined {
  const basic = isBasic(text, from)
  const gap = from + (basic ? 'basic' : 'bearer').length
  let start = runEnd(text, gap, gaps)
  if (start === gap) return undefined
  const end = valueEnd(text, start, schemeCharacters)
  // A plus is a space in a URL, and may also begin a short value.
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
/** A longer word counts as a secret. */
const wordLengthMax = 20

/** The length of a value, without the escapes of its slashes. */
function lengthOf(text: string, start: number, end: number): number {
  return text.slice(start, end).replaceAll('\\', '').length
}

const urlUserLengthMax = 512

/** The user and password of a URL; `from` is its colon, and slashes follow it, perhaps escaped. */
export function urlAt(text: string, from: number): SecretSpan | undefined {
  const first = runEnd(text, from + 1, backslashes)
  const second = runEnd(text, first + 1, backslashes)
  if (text.charAt(first) !== '/' || text.charAt(second) !== '/') return undefined
  const start = second + 1
  const runsTo = runEnd(text, start, urlUserCharacters, start + urlUserLengthMax + 1)
  const until = runStart(text, runsTo, notAtSigns, start)
  const end = until - 1
  if (end <= start) return undefined
  if (end - start < 16 && !text.slice(start, end).includes(':')) return undefined
  return { from, start, end, until, kind: 'url-credentials' }
}

/** The names of secrets, and the quotes behind them, before its place. Group 1 is all of it. */
const secretName =
  /(?<=((?:(api|access|secret|private|account|auth|signing|encryption|client|service|master|subscription|shared|storage|webhook)[-_. ]?key|(password|passwd|passphrase|pwd)|(secret)|(token)|(credentials?)|(authorization)|x-amz-(signature)|[?&](sig))[\\"'`* ]{0,7}))/iy
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
const scheme = /(?:Bearer|Basic|Token|ApiKey|Digest)(?=[ +])/iy
const valueLengthMin = 8

/** The value of `password: x` or `api_key=x`; `at` is just behind the `:` or `=`. */
export function valueAt(text: string, at: number): SecretSpan | undefined {
  secretName.lastIndex = at - 1
  const name = secretName.exec(text)
  if (name === null) return undefined
  const kind =
    secretNameKinds[name.findIndex((group, index) => index > 1 && group !== undefined) - 2] ?? 'secret'
  const from = at - 1 - (name[1] ?? '').length
  const operator = text.charCodeAt(at)
  const slashes = runEnd(text, operator === equalsCode || operator === greaterCode ? at + 1 : at, spaces)
  const opened = runEnd(text, slashes, backslashes)
  const quote = text.charAt(opened)
  if (quote !== '"' && quote !== "'" && quote !== '`') {
    // A JSON number, object or null: replacing it by text would break the JSON.
    if (text.charAt(at - 2) === '"') return undefined
    const start = bareStart(text, opened)
    const end = valueEnd(text, start, bareCharacters)
    const length = end - start
    if (length < valueLengthMin || (length < wordLengthMax && isWord(text, start, end))) return undefined
    return { from, start, end, until: end, kind }
  }
  const start = opened + 1
  const end =
    quote === '"' ? nestedClosingQuote(text, start, opened - slashes) : runEnd(text, start, quotedCharacters)
  if (end - start < (kind === 'token' ? 2 * valueLengthMin : valueLengthMin)) return undefined
  return { from, start, end, until: end, kind }
}

const equalsCode = 0x3d
const greaterCode = 0x3e

/** Behind the scheme of a header's value, if a value follows it. */
function bareStart(text: string, at: number): number {
  scheme.lastIndex = at
  if (!scheme.test(text)) return at
  const behind = runEnd(text, scheme.lastIndex, gaps)
  if (valueEnd(text, behind, bareCharacters) > behind) return behind
  // A plus may begin the value.
  if (behind - 1 > scheme.lastIndex && text.charCodeAt(behind - 1) === plusCode) return behind - 1
  return at
}

/**
 * The end of a JSON string whose opening quote has `depth` backslashes (0, 1, 3: JSON within JSON). Its closing quote has
 * as many, plus the escaped backslashes of the value. A quote with fewer backslashes ends an outer string first.
 */
function nestedClosingQuote(text: string, start: number, depth: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    const slashes = at - runStart(text, at, backslashes, start)
    if (slashes < depth || slashes % (2 * depth + 2) === depth) return at - Math.min(slashes, depth)
  }
  return text.length
}
