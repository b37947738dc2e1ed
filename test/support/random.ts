import { inject, onTestFailed } from 'vitest'

/**
 * The random numbers of the test that runs. They are the same in every run of `npm test`, and others in every run of
 * `npm run chaos`. TEST_SEED=n chooses them; a test that fails prints the n of its run.
 */
export function seeded(seed: number): Random {
  const runSeed = inject('seed')
  onTestFailed(() => console.error(`TEST_SEED=${runSeed} runs this test again with the same random numbers.`))
  return new Random(seed + runSeed)
}

/** Random numbers that follow from the seed (mulberry32). */
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
