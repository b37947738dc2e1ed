import {
  backslashes,
  base64Characters,
  dottedCharacters,
  hexDigits,
  hyphens,
  isAt,
  lettersAndDigits,
  pemCharacters,
  pemTailCharacters,
  type Runs,
  runEnd,
  runStart,
  valueEnd,
  wordCharacters,
} from './runs.ts'
import type { SecretSpan } from './secret-span.ts'
import { jwtCharacters, shapes, tokens } from './vendor-forms.ts'

// Finds secrets that are recognisable by their own form: keys with a prefix, JWTs and private keys.

/**
 * Patterns by which a scan finds tokens; each matches the last character of some triggers. `rare` selects the
 * patterns whose character is rare in text.
 */
export function tokenTriggers(rare: boolean): string[] {
  const isWanted = (pattern: string) => /^[A-Z9v_:-]/.test(pattern) === rare
  const byLast = Map.groupBy(
    tokens.map(({ start, trigger }) => ({ trigger, next: start.charAt(trigger.length) })),
    ({ trigger }) => trigger.slice(-1),
  )
  const prefixes = [...byLast].map(([last, triggers]) => {
    const following = [...new Set(triggers.map(({ next }) => next))]
    const next = following.includes('') ? '' : `(?=[${following.join('')}])`
    return `${last}${next}(?<=${backwards(triggers.map(({ trigger }) => trigger))})`
  })
  return [...prefixes, ...shapes.map(({ middle }) => middle.source)].filter(isWanted)
}

/**
 * Builds a lookbehind pattern for these words. A lookbehind reads backwards, so common endings are factored
 * out and read once.
 */
function backwards(words: readonly string[]): string {
  if (words.includes('')) return ''
  const byLast = Map.groupBy(words, (word) => word.slice(-1))
  const endings = [...byLast].map(
    ([last, ending]) => backwards(ending.map((word) => word.slice(0, -1))) + last,
  )
  return endings.length === 1 ? endings.join('') : `(?:${endings.join('|')})`
}

/** Returns the token whose trigger ends just before `at`. `runs` are the runs of `text`. */
export function tokenAt(text: string, at: number, runs: Runs): SecretSpan | undefined {
  const ending = lastTwo(text.charCodeAt(at - 2), text.charCodeAt(at - 1))
  for (const { start, trigger, kind, characters, least } of tokensByEnd.get(ending) ?? []) {
    const from = at - trigger.length
    if (from < 0 || !text.startsWith(start, from)) continue
    const begins = startsToken(text, from)
    // Slashes can be escaped, so a base64 run is read directly, and only at the start of a token.
    if (characters === base64Characters) {
      const end = begins ? valueEnd(text, at, characters) : at
      if (end - at < least) continue
      return { from, start: from, end, until: end, kind }
    }
    const all = characters === jwtCharacters ? jwtCharactersAt(text, at, runs) : characters
    if (all === undefined) continue
    const end = runs.end(at, all)
    if (end - at < least) continue
    // "task-..." and "desk-..." are words: after a letter, a key must look random, and base64 always does.
    if (!begins && (isBase64(start, characters) || !runs.looksRandom(at, all))) continue
    return { from, start: from, end, until: end, kind }
  }
  return shapeAt(text, at)
}

/** True for a token that can also be part of a longer base64 text. */
function isBase64(start: string, characters: number): boolean {
  return (characters === lettersAndDigits || characters === wordCharacters) && !/[^A-Za-z0-9]/.test(start)
}

/** Returns the secret whose `middle` matches the character just before `at`. */
function shapeAt(text: string, at: number): SecretSpan | undefined {
  for (const { kind, middle, before, behind } of shapesByMiddle.get(text.charCodeAt(at - 1)) ?? []) {
    const { characters, least, most } = before
    const from =
      least === most
        ? at - 1 - most
        : behindEscape(text, runStart(text, at - 1, characters, Math.max(0, at - 1 - most - 2)))
    if (at - 1 - from < least || at - 1 - from > most || from < 0) continue
    middle.lastIndex = at - 1
    behind.lastIndex = at
    if (!middle.test(text) || !behind.test(text) || !startsToken(text, from)) continue
    return { from, start: from, end: behind.lastIndex, until: behind.lastIndex, kind }
  }
  return undefined
}

/**
 * A run can begin with the letter of a JSON escape or with the digits of a URL escape, which are skipped
 * here.
 */
function behindEscape(text: string, at: number): number {
  const before = text.charAt(at - 1)
  if (before === '%') return at + 2
  return before === '\\' && 'nrtbf'.includes(text.charAt(at) || '-') ? at + 1 : at
}

/** True if no letter or digit precedes `at`, other than the end of a JSON or URL escape. */
function startsToken(text: string, at: number): boolean {
  return (
    at === 0 ||
    !isAt(text, at - 1, lettersAndDigits) ||
    /(?:\\[nrtbf]|%[0-9A-Fa-f]{2})$/.test(text.slice(Math.max(0, at - 3), at))
  )
}

/**
 * A truncated JWT can lack its dot, but its length still distinguishes it from other base64. Returns
 * undefined if the text is not a JWT.
 */
function jwtCharactersAt(text: string, at: number, runs: Runs): number | undefined {
  const end = runs.end(at, wordCharacters)
  if (end - at >= 8 && text.charCodeAt(end) === dotCode) return dottedCharacters
  return end - at >= 200 ? wordCharacters : undefined
}

const dotCode = 0x2e

/** Keyed by the last two characters of the trigger. */
const tokensByEnd = Map.groupBy(tokens, ({ trigger }) =>
  lastTwo(trigger.charCodeAt(trigger.length - 2), trigger.charCodeAt(trigger.length - 1)),
)

function lastTwo(first: number, second: number): number {
  return first * 0x1_0000 + second
}

const shapesByMiddle = Map.groupBy(shapes, ({ middle }) => middle.source.replace('\\', '').charCodeAt(0))

// In a URL, a plus is a space.
const pemHeader = /BEGIN[ +](?:[A-Z0-9]{1,32}[ +]){0,3}PRIVATE[ +]KEY(?:[ +]BLOCK)?-----/y
const pemEnd = /-----END[ +][A-Z0-9 +]{0,40}-----/y
const pemFooter = /END[ +](?:[A-Z0-9]{1,32}[ +]){0,3}PRIVATE[ +]KEY/y

/** A private key, starting at its first line. Its last line can be missing. */
export function pemAt(text: string, at: number): SecretSpan | undefined {
  pemHeader.lastIndex = at
  if (!pemHeader.test(text)) return undefined
  const bodyEnd = pemBodyEnd(text, pemHeader.lastIndex)
  pemEnd.lastIndex = bodyEnd
  const end = pemEnd.test(text) ? pemEnd.lastIndex : bodyEnd
  return { from: at - 5, start: at - 5, end, until: end, kind: 'private-key' }
}

/**
 * Returns the end of base64 lines that may contain escaped line breaks and slashes; the lines end at the
 * first hyphen, and up to five hyphens are included. In a URL, the backslash of an escape is percent-encoded,
 * sometimes twice.
 */
function pemBodyEnd(text: string, start: number): number {
  for (let at = start; ; ) {
    const end = runEnd(text, at, pemCharacters)
    const escaped = runEnd(text, end, backslashes)
    const dashes = runEnd(text, end, hyphens)
    if (escaped > end && 'nrt/'.includes(text.charAt(escaped) || '-')) at = escaped + 1
    else if (dashes > end && dashes - end < 5) at = dashes
    else if (text.charCodeAt(end) === percentCode && runEnd(text, end + 1, hexDigits, end + 3) === end + 3)
      at = end + 3
    else return end
  }
}

const percentCode = 0x25

/** The remainder of a private key whose first line is missing. */
export function pemTailAt(text: string, at: number, least: number): SecretSpan | undefined {
  pemFooter.lastIndex = at
  if (!pemFooter.test(text)) return undefined
  const start = runStart(text, at - 5, pemTailCharacters, least)
  return { from: start, start, end: pemFooter.lastIndex, until: pemFooter.lastIndex, kind: 'private-key' }
}
