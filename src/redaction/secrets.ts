import { announcement, schemeAt, urlAt, valueAt } from './announced-secrets.ts'
import { definedAt, optionAt, passwordAfterLogin } from './command-secrets.ts'
import { percentDecoded, unicodeDecoded } from './escapes.ts'
import { Runs } from './runs.ts'
import { mergeSpans, type SecretSpan } from './secret-span.ts'
import { pemAt, pemTailAt, tokenAt, tokenTriggers } from './secret-tokens.ts'

/**
 * Finds every secret in a text, in order and without overlaps, including secrets written with escapes:
 * percent-encoded, as in the query of a URL, or as `\u002d`. Only ASCII has to be readable, so bytes decoded
 * as latin1 are enough. `exact` lists secrets known by value, whatever their form; those shorter than 8
 * characters are ignored.
 * One scan finds rare trigger characters that follow certain characters. The slower patterns run only at
 * those positions.
 */
export function findSecrets(text: string, exact: readonly string[] = []): SecretSpan[] {
  const decoded = unicodeDecoded(text)
  if (decoded === undefined) return findInUrl(text, exact)
  const spans = findInUrl(decoded.text, exact)
  return spans.length === 0 ? spans : spans.map(decoded.original)
}

function findInUrl(text: string, exact: readonly string[]): SecretSpan[] {
  const spans = findPlainSecrets(text, exact)
  const decoded = percentDecoded(text)
  if (decoded === undefined) return spans
  return mergeSpans([...spans, ...findPlainSecrets(decoded.text, exact).map(decoded.original)])
}

function findPlainSecrets(text: string, exact: readonly string[]): SecretSpan[] {
  let spans = scan(text, rareTriggers)
  const others = text.length <= shortTextMax && otherSigns.test(text) ? scan(text, otherTriggers) : none
  // The end of one secret can be the beginning of another.
  if (spans.length + others.length > 1 || others !== none) spans = mergeSpans([...spans, ...others])
  for (const secret of exact) {
    if (secret.length < exactLengthMin || secret.length > text.length) continue
    if (!text.includes(rarePart(secret)) || !text.includes(secret)) continue
    spans = mergeSpans([...spans, ...occurrences(text, secret)])
  }
  return spans
}

function scan(text: string, triggers: RegExp): SecretSpan[] {
  let spans = none
  let end = 0
  const runs = new Runs(text)
  triggers.lastIndex = 0
  while (triggers.test(text)) {
    const span = secretAt(text, triggers.lastIndex, end, runs)
    if (span === undefined) continue
    if (spans === none) spans = []
    spans.push(span)
    end = span.end
    triggers.lastIndex = end
  }
  return spans
}

const none: SecretSpan[] = []
const exactLengthMin = 8
/** The maximum length of the texts in columns. */
export const shortTextMax = 4_096

/**
 * There are two scans because V8 quickly skips characters that cannot start a match only while the pattern
 * has few first characters, and those of `otherTriggers` are common in text. Long texts are therefore not
 * scanned for `otherTriggers`.
 */
const rareTriggers = new RegExp(
  [
    '[bB](?=earer[ +]|asic )',
    ':(?=\\\\{0,63}/\\\\{0,63}/)',
    announcement,
    '-(?=[A-Za-z])(?<=--)',
    '-(?=[up][ "\'\\\\])',
    '_(?=(?:PASSWORD|PASSWD|PASS|PWD|KEY|SALT|SECRET|TOKEN)\\\\{0,15}["\'])',
    ...tokenTriggers(true),
  ].join('|'),
  'g',
)
const otherTriggers = new RegExp(['g(?=in[\\s\\\\])(?<=log)', ...tokenTriggers(false)].join('|'), 'g')

/**
 * A text that does not match this contains no secret of `otherTriggers`. Most texts do not match, and this
 * one search takes a third of the time. A Discord token begins with a number in base64, and therefore with
 * one of three letters: https://kraigie.github.io/nostrum/Nostrum.Token.html, read 2026-11-29
 */
const otherSigns = /dapi|dp\.|login|[MNO][\w-]{22}/

/**
 * Returns the secret for the trigger character just before `at`. The secret must not begin before `least`.
 */
function secretAt(text: string, at: number, least: number, runs: Runs): SecretSpan | undefined {
  const character = text[at - 1]
  switch (character) {
    case 'b':
    case 'B':
      return schemeAt(text, at - 1)
    case ':':
      return text[at] === '/' || text[at] === '\\'
        ? (urlAt(text, at - 1) ?? valueAt(text, at))
        : (valueAt(text, at) ?? tokenAt(text, at, runs))
    case '=':
    case '>':
      return valueAt(text, at)
    case '-':
      if (text.startsWith('-----BEGIN', at - 5)) return pemAt(text, at)
      if (text.startsWith('-----END', at - 5)) return pemTailAt(text, at, least)
      return tokenAt(text, at, runs) ?? optionAt(text, at, runs)
    case '_':
      return tokenAt(text, at, runs) ?? definedAt(text, at)
    case 'g':
      return passwordAfterLogin(text, at)
  }
  return tokenAt(text, at, runs)
}

/**
 * Returns six characters of the secret, starting with one that is rare in text if possible, because searching
 * for them is several times faster.
 */
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
