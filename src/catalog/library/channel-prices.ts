import type { LibraryPrices, Price } from '../snapshot.ts'
import type { Matches } from './match.ts'

/** A model in the library. */
export interface LibraryEntry {
  matches: Matches
  /** Undefined: the library knows the model, but we cannot calculate its cost. */
  price: Price | undefined
}

/** The library's prices on one channel. The first entry that matches a name applies. */
export class ChannelPrices implements LibraryPrices {
  readonly #entries: readonly LibraryEntry[]
  readonly #found = new Map<string, Price | undefined>()
  #all: readonly Price[] | undefined

  constructor(entries: readonly LibraryEntry[]) {
    this.#entries = entries
  }

  get all(): readonly Price[] {
    this.#all ??= this.#entries.flatMap(({ price }) => price ?? [])
    return this.#all
  }

  of(upstreamModel: string): Price | undefined {
    if (this.#found.has(upstreamModel)) return this.#found.get(upstreamModel)
    const name = upstreamModel.toLowerCase().trim()
    const price = (this.#entryOf(name) ?? this.#entryOf(withHyphens(name)))?.price
    // Bounded, because a channel that passes any name through can receive arbitrary names.
    if (this.#found.size >= namesMax) this.#found.clear()
    this.#found.set(upstreamModel, price)
    return price
  }

  #entryOf(name: string): LibraryEntry | undefined {
    return this.#entries.find(({ matches }) => matches(name))
  }
}

const namesMax = 1000

/** The library also contains `-20250514` in the form `-2025-05-14`. */
function withHyphens(name: string): string {
  return name.replace(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, '-$1-$2-$3')
}
