import { secretNameBefore, valueBehind } from './announced-secrets.ts'
import {
  backslashes,
  bareCharacters,
  isAt,
  isWord,
  lineCharacters,
  type Runs,
  runEnd,
  runStart,
  spaces,
  wordCharacters,
} from './runs.ts'
import type { SecretSpan } from './secret-span.ts'

// Finds secrets on command lines and in configuration files where no colon or equals sign announces them.

const valueLengthMin = 8
const wordLengthMax = 20
const optionLengthMax = 32
/** How far before `-u` to look for the start of the command. */
const commandLengthMax = 256

/**
 * Finds the value of `--password x`, `curl -u user:x` or `sshpass -p x`. `at` is just after the last hyphen
 * before the option's name.
 */
export function optionAt(text: string, at: number, runs: Runs): SecretSpan | undefined {
  const end = runEnd(text, at, wordCharacters, at + optionLengthMax)
  const isLong = text.charAt(at - 2) === '-'
  const isUser = isLong ? end === at + 4 && text.startsWith('user', at) : text.charAt(at) === 'u'
  if (isUser) {
    const from = runs.lastOf('curl', at)
    return at - from <= commandLengthMax ? passwordOf(text, from, end) : undefined
  }
  if (!isLong) {
    const isPassword = text.startsWith('sshpass -p', at - 9)
    return isPassword ? span(text, at - 9, runEnd(text, at + 1, spaces), 1) : undefined
  }
  if (text.charAt(end) !== ' ') return undefined
  const name = secretNameBefore(text, end)
  if (name === undefined || name.from < at) return undefined
  return span(text, at - 2, runEnd(text, end, spaces), valueLengthMin, name.kind)
}

/**
 * The password in `user:password`. `from` is the start of the command, and `end` the position after the
 * option's name.
 */
function passwordOf(text: string, from: number, end: number): SecretSpan | undefined {
  const { start, end: until } = valueBehind(text, runEnd(text, end, spaces))
  const colon = text.slice(start, until).indexOf(':')
  if (colon === -1 || start + colon + 1 >= until) return undefined
  return { from, start: start + colon + 1, end: until, until, kind: 'password' }
}

function span(
  text: string,
  from: number,
  at: number,
  least: number,
  kind = 'password',
): SecretSpan | undefined {
  const { start, end } = valueBehind(text, at)
  if (end - start < least || text.charAt(start) === '-') return undefined
  if (least > 1 && end - start < wordLengthMax && isWord(text, start, end)) return undefined
  return { from, start, end, until: end, kind }
}

/** The password in `login x password y`, as in a .netrc file. `at` is after the "g" of "login". */
export function passwordAfterLogin(text: string, at: number): SecretSpan | undefined {
  const user = gapEnd(text, at + 2)
  const userEnd = runEnd(text, user, bareCharacters, user + userLengthMax)
  const password = gapEnd(text, userEnd)
  if (user === at + 2 || password === userEnd || !text.startsWith('password', password)) return undefined
  const named = password + 'password'.length
  const value = gapEnd(text, named)
  const { start, end } = valueBehind(text, value)
  if (value === named || start === end || (end - start < wordLengthMax && isWord(text, start, end)))
    return undefined
  return { from: at - 'log'.length, start, end, until: end, kind: 'password' }
}

const userLengthMax = 64
const gapsMax = 8

/** Skips white space and JSON escapes such as `\n`. */
function gapEnd(text: string, at: number): number {
  let end = at
  for (let gap = 0; gap < gapsMax; gap++) {
    const letter = runEnd(text, end, backslashes, end + 15)
    if (isAt(text, end, spaces)) end++
    else if (letter > end && 'nt'.includes(text.charAt(letter) || '-')) end = letter + 1
    else break
  }
  return end
}

const definedName =
  /(?:PASSWORD|PASSWD|PASS|PWD|KEY|SALT|SECRET|TOKEN)\\{0,15}["']\s{0,4},\s{0,4}\\{0,15}["']/y

/** The value in PHP's `define('DB_PASSWORD', 'x')`. `at` is after an underscore of the name. */
export function definedAt(text: string, at: number): SecretSpan | undefined {
  definedName.lastIndex = at
  if (!definedName.test(text)) return undefined
  const start = definedName.lastIndex
  const name = runStart(text, at, wordCharacters, Math.max(0, at - optionLengthMax))
  const opened = runStart(text, name - 1, backslashes, Math.max(0, name - 16))
  const from = runStart(text, opened, spaces, Math.max(0, opened - 4)) - 'define('.length
  if (from < 0 || !text.startsWith('define(', from)) return undefined
  const end = runEnd(text, start, lineCharacters)
  return end === start ? undefined : { from, start, end, until: end, kind: 'secret' }
}
