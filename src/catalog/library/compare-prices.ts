import { priceParts, type Rates, rateOf } from '../../canonical/price-parts.ts'
import type { GatewayFile } from '../gateway-file.ts'
import type { Price, PriceCondition } from '../snapshot.ts'
import type { BundledLibrary } from './bundled.ts'
import { ChannelPrices, type LibraryEntry } from './channel-prices.ts'
import { priceFromLibrary } from './library-price.ts'
import { matcherOf } from './match.ts'
import { providersOf } from './providers-of.ts'
import type { LibraryProvider } from './read-library.ts'

/** A part of a price that differs between the file and the library. */
export interface PriceDifference {
  model: string
  channel: string
  /** For example `input` or `input above 200000 tokens`. */
  part: string
  /** In nano-USD; undefined if not stated. */
  file: bigint | undefined
  library: bigint | undefined
  /** The library's name for the model. */
  source: string
}

/**
 * Compares the prices of a file with the library's, for each channel whose vendor and upstream model the
 * library knows.
 */
export function comparePrices(
  file: GatewayFile,
  library: BundledLibrary,
  now: number,
): { compared: number; differences: PriceDifference[] } {
  const differences: PriceDifference[] = []
  let compared = 0
  const prices = new Map(file.models.map(({ id, price }) => [id, price]))
  for (const channel of file.channels) {
    const known = new ChannelPrices(providersOf(channel, library).flatMap((one) => entriesOf(one, now)))
    for (const { model, upstreamModel } of channel.offers) {
      const stated = prices.get(model)
      const theirs = known.of(upstreamModel)
      if (stated === undefined || theirs === undefined) continue
      compared++
      const { source = '' } = theirs
      for (const [part, file, library] of differingParts(stated, theirs)) {
        differences.push({ model, channel: channel.name, part, file, library, source })
      }
    }
  }
  return { compared, differences }
}

/** The models of a provider, with the prices in force at `now`, in ms. */
export function entriesOf({ id, models }: LibraryProvider, now: number): LibraryEntry[] {
  return models.map((model) => {
    const price = priceFromLibrary(model.prices, now)
    const source = `${id}/${model.id}`
    return { matches: matcherOf(model.match), price: price && { ...price, id: source, source } }
  })
}

type Amounts = [part: string, file: bigint | undefined, library: bigint | undefined]

function differingParts(file: Omit<Price, 'id'>, library: Price): Amounts[] {
  const tiers = new Map<string, { file?: Rates; library?: Rates }>([['', { file, library }]])
  for (const { when, rates } of file.tiers ?? []) {
    // The library has no service tiers.
    if (when.serviceTier === undefined) tiers.set(wordsOf(when), { file: rates })
  }
  for (const { when, rates } of library.tiers ?? []) {
    const words = wordsOf(when)
    if (words !== '') tiers.set(words, { ...tiers.get(words), library: rates })
  }
  return [...tiers].flatMap(([words, { file, library }]) =>
    priceParts
      .filter(({ name }) => file?.[name] !== undefined || library?.[name] !== undefined)
      .map(({ name, word }): Amounts => {
        const [stated, theirs] = [file, library].map((rates) => rates && rateOf(rates, name))
        return [`${word}${words}`, stated, theirs]
      })
      .filter(([, one, other]) => one !== other),
  )
}

function wordsOf({ aboveInputTokens, since, daily }: PriceCondition): string {
  return [
    aboveInputTokens === undefined ? '' : ` above ${aboveInputTokens} tokens`,
    since === undefined ? '' : ` since ${new Date(since).toISOString().slice(0, 10)}`,
    daily === undefined ? '' : ` from ${clock(daily.from)} to ${clock(daily.to)} UTC`,
  ].join('')
}

const clock = (second: number) => new Date(second * 1000).toISOString().slice(11, 16)
