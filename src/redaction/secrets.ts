import { announcement, schemeAt, urlAt, valueAt } from './announced-secrets.ts'
import { percentDecoded } from './percent-encoding.ts'
import { Runs } from './runs.ts'
import { mergeSpans, type SecretSpan } from './secret-span.ts'
import { pemAt, pemTailAt, tokenAt, tokenTriggers } from './secret-tokens.ts'

/**
 * Every secret in a text, in order, without overlaps. Percent-encoded secrets are found too, as in the query of a URL. The text needs readable ASCII only, so bytes decoded as latin1 will
 * do. `exact`: secrets known by value, whatever their form; those shorter than 8 characters are ignored.
 *
 * One scan finds rare trigger characters by the characters before them. Only there do the slower patterns run.
 */
export function findSecrets(text: string, exact: readonly string[] = []): SecretSpan[] {
  const spans = findPlainSecrets(text, exact)
  const decoded = percentDecoded(text)
  if (decoded === undefined) return spans
  return mergeSpans([...spans, ...findPlainSecrets(decoded.text, exact).map(decoded.original)])
}

function findPlainSecrets(text: string, exact: readonly string[]): SecretSpan[] {
  let spans = none
  let end = 0
  const runs = new Runs(text)
  trigger.lastIndex = 0
  while (trigger.test(text)) {
    const span = secretAt(text, trigger.lastIndex, end, runs)
    if (span === undefined) continue
    if (spans === none) spans = []
    spans.push(span)
    end = span.end
    trigger.lastIndex = end
  }
  for (const secret of exact) {
    if (secret.length < exactLengthMin || !text.includes(rarePart(secret)) || !text.includes(secret)) continue
    spans = mergeSpans([...spans, ...occurrences(text, secret)])
  }
  return spans
}

const none: SecretSpan[] = []
const exactLengthMin = 8

const trigger = new RegExp(
  [
    ...tokenTriggers(),
    '-(?=BEGIN |END )(?<=-----)',
    ':(?=\\\\{0,63}/\\\\{0,63}/)',
    announcement,
    '[bB](?=earer[ +]|asic )',
  ].join('|'),
  'g',
)

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
        : valueAt(text, at)
    case '=':
      return valueAt(text, at)
    case '-':
      if (text.startsWith('BEGIN ', at)) return pemAt(text, at)
      if (text.startsWith('END ', at)) return pemTailAt(text, at, least)
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
