import type { Random } from '../support/random.ts'

/** JSON text of a random value with random white space, escapes and number forms. */
export function randomJson(random: Random, depth = 0): string {
  const kind = random.upTo(depth > 3 ? 4 : 6)
  if (kind === 5) return randomList(random, '[', ']', () => randomJson(random, depth + 1))
  if (kind === 6) {
    return randomList(random, '{', '}', () =>
      randomMember(random, randomString(random), randomJson(random, depth + 1)),
    )
  }
  return kind < 2
    ? randomString(random)
    : random.pick(['0', '-0', '1', '-12.5', '3e2', '1E-3', '0.0', '123456789', 'true', 'false', 'null'])
}

export function randomMember(random: Random, key: string, value: string): string {
  return `${key}${randomSpace(random)}:${randomSpace(random)}${value}`
}

export function randomList(random: Random, open: string, close: string, item: () => string): string {
  const items = Array.from({ length: random.upTo(4) }, item)
  return joinRandomly(random, open, close, items)
}

export function joinRandomly(random: Random, open: string, close: string, items: string[]): string {
  const inner = items.map((item) => `${randomSpace(random)}${item}${randomSpace(random)}`).join(',')
  return `${open}${inner || randomSpace(random)}${close}`
}

export function randomString(random: Random): string {
  const length = random.next() < 0.05 ? 300 : random.upTo(12)
  let text = ''
  for (let i = 0; i < length; i++) {
    text += random.pick([
      'a',
      'model',
      ' ',
      '\\"',
      '\\\\',
      '\\n',
      '\\u0041',
      '\\ud83d\\ude00',
      'é',
      '漢',
      '😀',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '\\/',
    ])
  }
  return `"${text}"`
}

/** A key with some of its letters escaped. */
export function escapeRandomly(random: Random, word: string): string {
  const letters = [...word].map((letter) =>
    random.next() < 0.2 ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter,
  )
  return `"${letters.join('')}"`
}

export function randomSpace(random: Random): string {
  return random.pick(['', '', '', ' ', '\n  ', '\t', '\r\n'])
}
