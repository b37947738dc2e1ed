import { isRecord } from '../../canonical/json.ts'

/** Whether the library's entry matches this model name, which is in lower case. */
export type Matches = (name: string) => boolean

/**
 * Converts the library's `match` to a function. Throws an Error if it is invalid or could take long to
 * evaluate, because fetched data contains patterns too.
 */
export function matcherOf(match: unknown, depth = 0): Matches {
  const [[kind, value] = ['', undefined], ...more] = isRecord(match) ? Object.entries(match) : []
  if (more.length > 0 || depth > depthMax) throw unknownMatch(match)
  if (kind === 'or' || kind === 'and') {
    if (!Array.isArray(value) || value.length > partsMax) throw unknownMatch(match)
    const parts = value.map((part) => matcherOf(part, depth + 1))
    return kind === 'or'
      ? (name) => parts.some((matches) => matches(name))
      : (name) => parts.every((matches) => matches(name))
  }
  if (typeof value !== 'string' || value.length > charactersMax) throw unknownMatch(match)
  const text = value.toLowerCase()
  switch (kind) {
    case 'equals':
      return (name) => name === text
    case 'starts_with':
      return (name) => name.startsWith(text)
    case 'ends_with':
      return (name) => name.endsWith(text)
    case 'contains':
      return (name) => name.includes(text)
    case 'regex': {
      const pattern = patternOf(value)
      return (name) => pattern.test(name)
    }
  }
  throw unknownMatch(match)
}

/**
 * Compiles a pattern of the library. Throws an Error if it contains so many repetitions that testing a name
 * could take long.
 */
export function patternOf(source: string, prefix = ''): RegExp {
  const plain = source.replace(/\\./g, '_').replace(/\[[^\]]*\]/g, '_')
  const repeats = plain.match(/[*+]|\{\d*,\d*\}/g) ?? []
  if (source.length > charactersMax || repeats.length > 2 || /\)(?:[*+]|\{)/.test(plain)) {
    throw new Error(
      `the pattern ${JSON.stringify(source.slice(0, 100))} is too long or has too many repetitions`,
    )
  }
  return new RegExp(prefix === '' ? source : `${prefix}(?:${source})`)
}

const charactersMax = 300
const partsMax = 1000
const depthMax = 5

function unknownMatch(match: unknown): Error {
  return new Error(`unsupported match ${JSON.stringify(match)?.slice(0, 100)}`)
}
