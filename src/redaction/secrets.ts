import { announcement, schemeAt, urlAt, valueAt } from './announced-secrets.ts'
import { definedAt, optionAt, passwordAfterLogin } from './command-secrets.ts'
import { percentDecoded, unicodeDecoded } from './escapes.ts'
import { Runs } from './runs.ts'
import { mergeSpans, type SecretSpan } from './secret-span.ts'
import { pemAt, pemTailAt, tokenAt, tokenTriggers } from './secret-tokens.ts'

/**
 * Every secret in a text, in order, without overlaps. Secrets with escapes are found too: percent-encoded, as
 * in the query of a URL, or as `\u002d`. The text needs readable ASCII only, so bytes decoded as latin1 will
 * do. `exact`: secrets known by value, whatever their form; those shorter than 8 characters are ignored.
 *
 * One scan finds rare trigger characters by the characters before them. Only there do the slower patterns
 * run.
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
  // A secret may begin in the end of another one.
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
/** As long as the longest text of a column. */
export const shortTextMax = 4_096

/**
 * Two scans: V8 skips the characters between those of a pattern fast as long as these are few, and each of
 * `otherTriggers` is common in text. So a long text is not searched for these.
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
 * A text without one of these has none of the secrets of `otherTriggers`. Most texts have none of these, and
 * one search for all of them takes a third of the time. A Discord token begins with a number in base64, and
 * so with one of three letters: https://kraigie.github.io/nostrum/Nostrum.Token.html, read 2026-11-29
 */
const otherSigns = /dapi|dp\.|login|[MNO][\w-]{22}/

/** The secret of the trigger character just before `at`. It may not begin before `least`. */
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

/** Six characters, the first of them rare in text where possible: searching these is several times faster. */
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
