import type { Price } from '../snapshot.ts'
import type { VendorName } from '../traits/vendors.ts'
import type { BundledLibrary } from './bundled.ts'
import { ChannelPrices } from './channel-prices.ts'
import { entriesOf } from './compare-prices.ts'
import { providersOf } from './providers-of.ts'
import type { LibraryProvider } from './read-library.ts'

/** An offer of a model, by a channel whose providers may be known. */
export interface PricedOffer {
  vendor: VendorName | undefined
  protocols: Readonly<Record<string, string>>
  /** "*" if the client's name is passed through. */
  upstreamModel: string
}

export interface PriceSuggestion {
  price: Omit<Price, 'id'>
  /** The library's name for the model. */
  source: string
  /** `channel`: the price of a vendor that serves the model here; `name`: of the vendor of such names. */
  matchedBy: 'channel' | 'name'
  /** Whether the library has other prices at some times, which a price of one's own cannot have. */
  isPartial: boolean
}

/**
 * Finds prices for models in the package's data, whether or not the library's prices are in force. One
 * instance is for one request: it keeps what it has read.
 */
export class PriceSuggestions {
  readonly #library: BundledLibrary
  readonly #now: number
  readonly #read = new Map<string, ChannelPrices>()

  constructor(library: BundledLibrary, now: number) {
    this.#library = library
    this.#now = now
  }

  /** Undefined if the library has no price under these names that a request's cost can be calculated from. */
  of(model: string, offers: readonly PricedOffer[]): PriceSuggestion | undefined {
    const nameAt = ({ upstreamModel }: PricedOffer) => (upstreamModel === '*' ? model : upstreamModel)
    for (const offer of offers) {
      const found = this.#priceOf(providersOf(offer, this.#library), nameAt(offer))
      if (found !== undefined) return suggestion(found, 'channel')
    }
    for (const name of new Set([...offers.map(nameAt), model].flatMap(withoutVendor))) {
      const provider = this.#library.byModel(name)
      const found = provider && this.#priceOf([provider], name)
      if (found !== undefined) return suggestion(found, 'name')
    }
    return undefined
  }

  #priceOf(providers: readonly LibraryProvider[], name: string): Price | undefined {
    const key = providers.map(({ id }) => id).join(' ')
    const prices =
      this.#read.get(key) ?? new ChannelPrices(providers.flatMap((one) => entriesOf(one, this.#now)))
    this.#read.set(key, prices)
    return prices.of(name)
  }
}

function suggestion(price: Price, matchedBy: PriceSuggestion['matchedBy']): PriceSuggestion {
  const { source = '', tiers = [] } = price
  const kept = tiers.filter(({ when: { since, daily } }) => since === undefined && daily === undefined)
  return { price: { ...price, tiers: kept }, source, matchedBy, isPartial: kept.length < tiers.length }
}

/** `openai/gpt-5` is also `gpt-5`. */
function withoutVendor(name: string): string[] {
  const bare = name.slice(name.lastIndexOf('/') + 1)
  return bare === name || bare === '' ? [name] : [name, bare]
}
