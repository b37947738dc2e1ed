import type { Json } from '../canonical/json.ts'
import type { Rates } from '../canonical/price-parts.ts'
import type { Traits } from '../canonical/traits.ts'
import { usd } from '../canonical/usd.ts'
import { settingsOfChannels } from '../db/settings/channel-settings.ts'
import { settingsOfModels } from '../db/settings/model-settings.ts'
import { exportOf } from '../db/settings/setting.ts'
import { snakeCased } from '../db/settings/values.ts'
import type { ConnectionEntry } from './channel-connection.ts'
import { priceFromRow } from './price-from-row.ts'
import { namedRates } from './price-tiers.ts'
import type { CatalogRows, ChannelRow, PriceRow } from './queries.ts'
import type { Price, PriceTier } from './snapshot.ts'
import { traitsInWords } from './trait-entry.ts'

// Converts rows to the vocabulary of gateway.yaml, as the inverse of apply.ts. Used by responses of the admin
// API and by exports.

type ModelRow = CatalogRows['models'][number]
type OfferRow = Pick<CatalogRows['offers'][number], 'modelId' | 'upstreamModel' | 'traits'>

/** Returns an entry of `models`, without settings that have their default values. */
export function modelWords(row: ModelRow, price: PriceRow | undefined): Json {
  return {
    id: row.id,
    ...exportOf(settingsOfModels, row),
    ...member('price', price === undefined ? undefined : priceWords(priceFromRow(price))),
    ...(row.traits !== null && { traits: traitsInWords(row.traits) }),
  }
}

/** Returns an entry of `channels`, without the secrets of its credentials and its connection. */
export function channelOut(row: ChannelRow, offers: readonly OfferRow[]): Json {
  return {
    name: row.name,
    protocols: row.protocols,
    ...(row.vendor !== null && { vendor: row.vendor }),
    models: offersWords(offers),
    ...(row.traits !== null && { traits: traitsInWords(row.traits) }),
    ...exportOf(settingsOfChannels, row),
  }
}

/** Returns the settings of a channel's connection. */
export function connectionWords({ auth, timeouts, ...rest }: ConnectionEntry): Json {
  return {
    ...rest,
    ...(auth !== undefined && { auth: snakeCased(auth) }),
    ...(timeouts !== undefined && { timeouts: snakeCased(timeouts) }),
  }
}

/** Returns a channel's `models`: "*" or a map. */
function offersWords(offers: readonly OfferRow[]): Json | '*' {
  const [first] = offers
  if (offers.length === 1 && first !== undefined && isAny(first)) return '*'
  return Object.fromEntries(
    offers
      .toSorted((a, b) => (a.modelId < b.modelId ? -1 : 1))
      .map(({ modelId, upstreamModel, traits }) => [modelId, offerWords(upstreamModel, traits)]),
  )
}

function isAny({ modelId, upstreamModel, traits }: OfferRow): boolean {
  return modelId === '*' && upstreamModel === '*' && traits === null
}

/** Returns the upstream's name, or a map if the offer has its own traits. */
export function offerWords(upstreamModel: string, traits: Traits | null): Json | string {
  return traits === null ? upstreamModel : { upstream: upstreamModel, traits: traitsInWords(traits) }
}

/** Returns the `price` of a model, or undefined if no part of it is known. */
export function priceWords(price: Omit<Price, 'id'> | undefined): Json | undefined {
  if (price === undefined) return undefined
  const { image, imageRates, tiers = [] } = price
  const serviceTiers = Map.groupBy(
    tiers.filter(({ when }) => when.serviceTier !== undefined),
    ({ when }) => when.serviceTier ?? '',
  )
  const own = tiers.filter(({ when }) => when.serviceTier === undefined)
  return {
    ...rateWords(price),
    ...(image !== undefined && { image: usd(image) }),
    ...(imageRates.length > 0 && { images: imageRates.map(imageRateWords) }),
    ...(own.length > 0 && { tiers: own.map(contextTierWords) }),
    ...(serviceTiers.size > 0 && {
      service_tiers: Object.fromEntries([...serviceTiers].map(([name, all]) => [name, serviceWords(all)])),
    }),
  }
}

/** A service tier starts with its own prices, followed by those of its steps. */
function serviceWords(tiers: readonly PriceTier[]): Json {
  const base = tiers.find(({ when }) => when.aboveInputTokens === undefined)
  const steps = tiers.filter((tier) => tier !== base)
  return {
    ...(base !== undefined && rateWords(base.rates)),
    ...(steps.length > 0 && { tiers: steps.map(contextTierWords) }),
  }
}

function contextTierWords({ when, rates }: PriceTier): Json {
  return { above_input_tokens: when.aboveInputTokens, ...rateWords(rates) }
}

function imageRateWords({ size, quality, nano }: Price['imageRates'][number]): Json {
  return { ...member('size', size), ...member('quality', quality), usd: usd(nano) }
}

/** In USD, as exact decimals. */
export function rateWords(rates: Rates): Json {
  return Object.fromEntries(namedRates(rates).map(([word, nano]) => [word, usd(nano)]))
}

function member(name: string, value: unknown): Json {
  return value === undefined ? {} : { [name]: value }
}
