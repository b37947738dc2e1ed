import type { ImageTraits } from '../canonical/image.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import type { OfferTraits } from '../traits/offer-traits.ts'
import type { VendorName } from '../traits/vendors.ts'
import type { Connection } from './connection.ts'

/** Models, channels, offers, groups and prices as of one moment. Immutable: a change makes a new snapshot. */
export interface Snapshot {
  revision: number
  /** By public id and by alias, without `*`. */
  models: ReadonlyMap<string, Model>
  /** The model of all unknown names; undefined when no channel offers `*`. */
  anyModel: Model | undefined
  channels: ReadonlyMap<string, Channel>
  groups: ReadonlyMap<string, Group>
  tenants: ReadonlyMap<string, Tenant>
  /** Channels, by id, that the keys of one tenant alone can reach, with the id of that tenant. */
  soleTenants: ReadonlyMap<string, string>
}

export interface Tenant {
  id: string
  name: string
  disabled: boolean
  /** True: its requests need a reservation. */
  limited: boolean
  /** Limits of all its keys together. */
  limits: RateLimits
}

/** Rate limits; undefined: unbounded. */
export interface RateLimits {
  requestsPerMinute: number | undefined
  tokensPerMinute: number | undefined
  /** Requests that may run at once. */
  concurrency: number | undefined
}

export interface Model {
  id: string
  /** Other names that clients may call it by. */
  aliases: readonly string[]
  /** Ids of models that answer when none of its channels can, in this order. */
  fallbacks: readonly string[]
  /** Paths of members of requests for which no vendor adds input, on any of its channels. */
  plainMembers: readonly string[]
  contextLength: number | undefined
  maxOutputTokens: number | undefined
  price: Price | undefined
  /**
   * The image requests that it takes; undefined: not known, so only channels that speak the format are
   * called.
   */
  images: ImageTraits | undefined
  /** Enabled channels that serve it, highest priority first, then by name. */
  offers: readonly Offer[]
  createdAt: Date
}

/** One model on one channel. */
export interface Offer {
  channel: Channel
  /** The upstream's name for the model; `*`: the client's own name is passed through. */
  upstreamModel: string
  traits: OfferTraits
  /** The library's prices of what it serves. Absent: the file does not ask for them, or has a price. */
  libraryPrices?: LibraryPrices | undefined
}

/** The library's prices on one channel. */
export interface LibraryPrices {
  /** Those of all models that the library knows. */
  readonly all: readonly Price[]
  /** By the upstream's name of the model. Undefined: the library does not know it. */
  of(upstreamModel: string): Price | undefined
}

export interface Channel {
  id: string
  name: string
  protocols: Readonly<Partial<Record<ProtocolName, string>>>
  priority: number
  weight: number
  /** A list: only private addresses within these CIDR blocks. */
  allowPrivateAddress: boolean | readonly string[]
  /**
   * Whether requests may name what the vendor keeps. Absent: `allow` where one tenant alone reaches it, else
   * `own`.
   */
  sharedState?: 'allow' | 'own' | undefined
  /** Decrypted; at least one, in the order of the file. An empty string: the upstream wants no credential. */
  credentials: readonly string[]
  /** The most calls that a process runs on it at once; undefined: half of IN_FLIGHT_MAX. */
  concurrency: number | undefined
  /**
   * The most image jobs that it gets at once, and in a minute, from all processes together; undefined:
   * unbounded.
   */
  imageConcurrency: number | undefined
  imagesPerMinute: number | undefined
  /** The same for the requests on this channel. */
  plainMembers: readonly string[]
  /** As stated, or the one whose hosts its base URLs have; undefined: not known. */
  vendor: VendorName | undefined
  /** How often an admin has closed its breaker in all processes. */
  breakerResets?: number | undefined
  /** Absent: it is reached directly, within the bounds of the process. */
  connection?: Connection | undefined
}

export interface Group {
  id: string
  name: string
  /** `['*']`: all models, all channels. */
  models: readonly string[]
  channels: readonly string[]
  /** A decimal string. */
  priceMultiplier: string
  /** 0 to 100. Queued images with a higher priority come first. */
  imagePriority: number
  /** True: the usage log keeps the answers of its keys, where a key does not say otherwise. */
  captureAnswers: boolean
  /** Days for which answers of its keys are kept, where a key does not say otherwise; 0: none is kept. */
  keptDays: number
  /** The model that is asked for the summary of a conversation; undefined: the one that the client names. */
  compactModel: string | undefined
  /** `unseen`: whether the money of an answer that no one saw is charged at once, or held first. */
  clientGone: { policy: 'drain' | 'abort'; seconds: number; unseen: 'estimate' | 'hold' }
  /** Limits of each key that has no limits of its own. */
  limits: RateLimits
  /** Limits of all its keys together. */
  totalLimits: RateLimits
  /** True: the group has a budget, and requests of its keys need a reservation. */
  budgeted: boolean
}

/** Prices of the parts of a request. Nano-USD per million tokens; undefined: not known, never free. */
export interface Rates {
  input: bigint | undefined
  cacheRead: bigint | undefined
  /** Tokens that a vendor keeps for five minutes, or for as long as it likes. */
  cacheWrite: bigint | undefined
  output: bigint | undefined
  reasoning: bigint | undefined
  /** Tokens that a vendor keeps for an hour. */
  cacheWrite1h?: bigint | undefined
  audioInput?: bigint | undefined
  audioOutput?: bigint | undefined
  /** Nano-USD for one search of the web. */
  webSearch?: bigint | undefined
  /** Nano-USD for each request, whatever its tokens. */
  request?: bigint | undefined
}

/** One version of a price. Its own rates hold where none of its tiers does. */
export interface Price extends Rates {
  id: string
  /** Nano-USD per image. */
  image: bigint | undefined
  /** Prices of images by size and quality. The best match counts, and has precedence over `image`. */
  imageRates: readonly ImageRate[]
  /** Of those that hold, the last one counts, for the whole request. Absent: none. */
  tiers?: readonly PriceTier[] | undefined
  /** Where it comes from; undefined: gateway.yaml. */
  source?: string | undefined
}

/** All rates of the requests that meet its conditions: nothing is taken from other tiers. */
export interface PriceTier {
  when: PriceCondition
  rates: Rates
}

/** An absent condition is met. */
export interface PriceCondition {
  /** More input tokens than this, cached ones included. */
  aboveInputTokens?: number
  /** The tier that served the request, in lower case. */
  serviceTier?: string
  /** From this moment on, in ms since the epoch. */
  since?: number
  /**
   * Every day between two times, in seconds since midnight UTC. From the later to the earlier one: over
   * midnight.
   */
  daily?: { from: number; to: number }
}

export interface ImageRate {
  size: string | undefined
  quality: string | undefined
  /** Nano-USD per image. */
  nano: bigint
}
