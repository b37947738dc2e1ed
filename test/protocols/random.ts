/** A repeatable source of random numbers (mulberry32), so that a failing case can be run again. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 to `most`, both included. */
  upTo(most: number): number {
    return Math.floor(this.next() * (most + 1))
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.upTo(items.length - 1)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  shuffle<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, at: this.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item)
  }

  /** Cut bytes in pieces of 1 to `most` bytes. */
  split(bytes: Buffer, most: number): Buffer[] {
    const pieces: Buffer[] = []
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + 1 + this.upTo(most - 1))
      pieces.push(bytes.subarray(at, end))
      at = end
    }
    return pieces
  }
}

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

/** A key spelled with some of its letters escaped. */
export function escapeRandomly(random: Random, word: string): string {
  const letters = [...word].map((letter) =>
    random.next() < 0.2 ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter,
  )
  return `"${letters.join('')}"`
}

export function randomSpace(random: Random): string {
  return random.pick(['', '', '', ' ', '\n  ', '\t', '\r\n'])
}
