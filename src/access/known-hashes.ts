/**
 * The hashes of all keys, so that a guessed key is refused without a Postgres query. Stores the first 8 bytes
 * of each hash, which take 16 to 32 bytes of memory. `followRevisions` fills the set and keeps it current.
 * Hashes are only removed when the set is filled again, so a match does not prove that a key exists, but a
 * miss proves that none does.
 */
export class KnownHashes {
  readonly #most: number
  #table = new HashTable()
  #isWhole = false
  #isTooMany = false
  #currentUntil = Number.NEGATIVE_INFINITY
  /** Increased when a load begins, so that an older load stops. */
  #load = 0

  /** With more keys than `most`, the set stays empty and every key is looked up. */
  constructor(most: number) {
    this.#most = most
  }

  /** True if all hashes are loaded, or there are too many. */
  get isLoaded(): boolean {
    return this.#isWhole || this.#isTooMany
  }

  get isTooMany(): boolean {
    return this.#isTooMany
  }

  /**
   * `known`: a key may have this hash. `none`: no key has it. `doubtful`: no key had it when the set was last
   * confirmed. `unsure`: not all hashes are loaded.
   */
  find(hash: Buffer): 'known' | 'none' | 'doubtful' | 'unsure' {
    if (this.#table.has(hash)) return 'known'
    if (!this.#isWhole) return 'unsure'
    return performance.now() < this.#currentUntil ? 'none' : 'doubtful'
  }

  /**
   * Fills the set again. `readPage` returns the hashes after a position and the next position, which is
   * undefined after the last page.
   */
  async load(readPage: (after: string | undefined) => Promise<HashPage>): Promise<void> {
    const load = ++this.#load
    this.#table = new HashTable()
    this.#isWhole = false
    this.#isTooMany = false
    let after: string | undefined
    do {
      const { hashes, next } = await readPage(after)
      if (load !== this.#load) return
      this.add(hashes)
      after = next
    } while (after !== undefined && !this.#isTooMany)
    this.#isWhole = !this.#isTooMany
  }

  /** Adds the hashes of new or changed keys. */
  add(hashes: readonly Buffer[]): void {
    for (const hash of hashes) {
      if (this.#isTooMany) return
      this.#table.add(hash)
      if (this.#table.size <= this.#most) continue
      this.#isTooMany = true
      this.#isWhole = false
      this.#table = new HashTable()
    }
  }

  /**
   * Confirms that Postgres has no keys newer than those passed to `add`. This holds until `untilMs`, a time
   * on the clock of performance.now().
   */
  confirm(untilMs: number): void {
    this.#currentUntil = untilMs
  }
}

export interface HashPage {
  hashes: readonly Buffer[]
  next: string | undefined
}

/**
 * A hash table with open addressing over the first 8 bytes of each hash. At most half of the slots are used.
 * An empty slot is 0.
 */
class HashTable {
  #slots = new Uint32Array(2 * 1024)
  size = 0

  add(hash: Buffer): void {
    const [high, low] = startOf(hash)
    if (!this.#insert(high, low)) return
    this.size++
    if (this.size * 4 > this.#slots.length) this.#grow()
  }

  has(hash: Buffer): boolean {
    const [high, low] = startOf(hash)
    return this.#slots[this.#slotOf(high, low)] !== 0
  }

  #insert(high: number, low: number): boolean {
    const slot = this.#slotOf(high, low)
    if (this.#slots[slot] !== 0) return false
    this.#slots[slot] = low
    this.#slots[slot + 1] = high
    return true
  }

  /**
   * Returns the slot with this hash, or the empty slot where it belongs. The bits of a hash are random, so
   * they select the slot directly.
   */
  #slotOf(high: number, low: number): number {
    const mask = this.#slots.length - 1
    let slot = (high * 2) & mask
    while (this.#slots[slot] !== 0 && (this.#slots[slot] !== low || this.#slots[slot + 1] !== high))
      slot = (slot + 2) & mask
    return slot
  }

  #grow(): void {
    const old = this.#slots
    this.#slots = new Uint32Array(old.length * 2)
    for (let slot = 0; slot < old.length; slot += 2) {
      const low = old[slot] ?? 0
      if (low !== 0) this.#insert(old[slot + 1] ?? 0, low)
    }
  }
}

/**
 * Returns the first 8 bytes as two numbers, the second of which is never 0. Rows written with SQL may have
 * shorter hashes.
 */
function startOf(hash: Buffer): [high: number, low: number] {
  const start = Buffer.alloc(8)
  hash.copy(start, 0, 0, 8)
  return [start.readUInt32LE(0), start.readUInt32LE(4) || 1]
}
