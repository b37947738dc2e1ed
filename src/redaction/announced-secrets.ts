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

const schemeValue = /[a-z]+[ +]+((?:[\w.~+/=*%-]|\\+\/){8,})/iy

/** The value of `Bearer x` or `Basic x`, but not of "basic understanding". `from` is the first letter. */
export function schemeAt(text: string, from: number): SecretSpan | undefined {
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

/** A longer word counts as a secret. */
const wordLengthMax = 20

/** A word of prose, as in "password: required." */
function isWord(text: string): boolean {
  return /^[A-Z]?[a-z]*[.!?:]*$/.test(text)
}

const urlCredentials = /:\\*\/\\*\/([^\s"'<>\\/?#]{1,512})@/y

/** The user and password of a URL; `from` is its colon. */
export function urlAt(text: string, from: number): SecretSpan | undefined {
  urlCredentials.lastIndex = from
  const user = urlCredentials.exec(text)?.[1]
  if (user === undefined || (!user.includes(':') && user.length < 16)) return undefined
  const end = urlCredentials.lastIndex - 1
  return { from, start: end - user.length, end, until: end + 1, kind: 'url-credentials' }
}

/** The names of secrets, at the end of the text before `:` or `=`. */
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

const opening = /[=>]?\s*(\\*)(["'`]?)/y
const bareValue = /(?:(?:Bearer|Basic|Token|ApiKey|Digest)[ +]+)?((?:[^\s"'`\\,;&<>(){}[\]|]|\\+\/)+)/iy
const quotedValue = /[^'"`\\\r\n]*/y
const valueLengthMin = 8

/** The value of `password: x` or `api_key=x`; `at` is just behind the `:` or `=`. */
export function valueAt(text: string, at: number): SecretSpan | undefined {
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
    // A JSON number, object or null: replacing it by text would break the JSON.
    if (before.endsWith('"')) return undefined
    bareValue.lastIndex = start
    const value = bareValue.exec(text)?.[1] ?? ''
    const end = bareValue.lastIndex
    if (value.length < valueLengthMin || (value.length < wordLengthMax && isWord(value))) return undefined
    return { from, start: end - value.length, end, until: end, kind }
  }
  const end =
    quote === '"' ? nestedClosingQuote(text, start, opened[1]?.length ?? 0) : endOf(quotedValue, text, start)
  if (end - start < (kind === 'token' ? 2 * valueLengthMin : valueLengthMin)) return undefined
  return { from, start, end, until: end, kind }
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  pattern.test(text)
  return pattern.lastIndex
}

/**
 * The end of a JSON string whose opening quote has `depth` backslashes (0, 1, 3: JSON within JSON). Its closing quote has
 * as many, plus the escaped backslashes of the value. A quote with fewer backslashes ends an outer string first.
 */
function nestedClosingQuote(text: string, start: number, depth: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (at - slashes > start && text[at - slashes - 1] === '\\') slashes++
    if (slashes < depth || slashes % (2 * depth + 2) === depth) return at - Math.min(slashes, depth)
  }
  return text.length
}
