import type { Rates } from '../canonical/price-parts.ts'
import type { settingsOfChannels } from '../db/settings/channel-settings.ts'
import type { groupSettingsOfRequests } from '../db/settings/group-settings.ts'
import type { settingsOfModels } from '../db/settings/model-settings.ts'
import type { SettingValues } from '../db/settings/setting.ts'
import type { tenantSettingsOfRequests } from '../db/settings/tenant-settings.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import type { Connection } from './channel-connection.ts'
import type { OfferTraits } from './traits/offer-traits.ts'
import type { VendorName } from './traits/vendors.ts'

/** Models, channels, offers, groups and prices at one moment. Immutable: a change creates a new snapshot. */
export interface Snapshot {
  revision: number
  /** Keyed by public id and by alias, without `*`. */
  models: ReadonlyMap<string, Model>
  /** The model for all unknown names; undefined if no channel offers `*`. */
  anyModel: Model | undefined
  /** Those in use: enabled and not blocked. */
  channels: ReadonlyMap<string, Channel>
  groups: ReadonlyMap<string, Group>
  tenants: ReadonlyMap<string, Tenant>
  /** Maps the ids of channels that only one tenant's keys can reach to that tenant's id. */
  soleTenants: ReadonlyMap<string, string>
}

export interface Tenant extends SettingValues<typeof tenantSettingsOfRequests> {
  id: string
  name: string
  /** True: the tenant has a limited balance or a budget, so its requests need a reservation. */
  limited: boolean
}

/** Rate limits; undefined: no limit. */
export interface RateLimits {
  requestsPerMinute: number | undefined
  tokensPerMinute: number | undefined
  /** The maximum number of requests that run at once. */
  concurrency: number | undefined
}

export interface Model extends SettingValues<typeof settingsOfModels> {
  id: string
  price: Price | undefined
  /** The channels that serve it, enabled and not blocked, by descending priority and then by name. */
  offers: readonly Offer[]
  /** The channels that would serve it too, but that a person has blocked; absent if none. */
  blocked?: readonly Channel[] | undefined
  createdAt: Date
}

/** One model on one channel. */
export interface Offer {
  channel: Channel
  /** The upstream's name for the model. With `*`, the client's name is passed through. */
  upstreamModel: string
  traits: OfferTraits
  /**
   * The library's prices for what the offer serves. Absent if they are not used or the file states a price.
   */
  libraryPrices?: LibraryPrices | undefined
}

/** The library's prices on one channel. */
export interface LibraryPrices {
  /** The prices of all models that the library knows. */
  readonly all: readonly Price[]
  /** Returns the price of the model with this upstream name, or undefined if the library does not know it. */
  of(upstreamModel: string): Price | undefined
}

export interface Channel extends SettingValues<typeof settingsOfChannels> {
  id: string
  name: string
  protocols: Readonly<Partial<Record<ProtocolName, string>>>
  /**
   * Decrypted; at least one, in the order of the file. An empty string means that the upstream needs no
   * credential.
   */
  credentials: readonly string[]
  /** The configured vendor, or the one whose hosts the base URLs point to; undefined if not known. */
  vendor: VendorName | undefined
  /** How often an admin has closed the channel's breaker in all processes. */
  breakerResets?: number | undefined
  /** If absent, the upstream is called directly, with the timeouts of the process. */
  connection?: Connection | undefined
}

export interface Group extends SettingValues<typeof groupSettingsOfRequests> {
  id: string
  name: string
  /** True: the group has a budget, so requests of its keys need a reservation. */
  budgeted: boolean
}

/** A version of a price. Its own rates apply if none of its tiers does. */
export interface Price extends Rates {
  id: string
  /** In nano-USD per image. */
  image: bigint | undefined
  /** Prices of images by size and quality. The best match applies and takes precedence over `image`. */
  imageRates: readonly ImageRate[]
  /** The last tier whose condition is met applies to the whole request. */
  tiers?: readonly PriceTier[] | undefined
  /** The source of the price; undefined: gateway.yaml. */
  source?: string | undefined
}

/** A complete set of rates for requests that meet the condition. Nothing is inherited from other tiers. */
export interface PriceTier {
  when: PriceCondition
  rates: Rates
}

/** An absent condition counts as met. */
export interface PriceCondition {
  /** More input tokens than this, including cached ones. */
  aboveInputTokens?: number
  /** The service tier that handled the request, in lower case. */
  serviceTier?: string
  /** From this moment on, in milliseconds since the epoch. */
  since?: number
  /**
   * Every day between two times, in seconds since midnight UTC. If `from` is later than `to`, the period
   * spans midnight.
   */
  daily?: { from: number; to: number }
}

export interface ImageRate {
  size: string | undefined
  quality: string | undefined
  /** In nano-USD per image. */
  nano: bigint
}
