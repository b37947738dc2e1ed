import type { ImageTraits } from '../canonical/image.ts'
import type { ProtocolName } from '../protocols/protocol.ts'

/** Models, channels, offers, groups and prices as of one moment. Immutable: a change makes a new one. */
export interface Snapshot {
  revision: number
  /** By public id and by alias; `*` is not in here. */
  models: ReadonlyMap<string, Model>
  /** What unknown names fall to when some channel offers `*`; undefined when none does. */
  anyModel: Model | undefined
  channels: ReadonlyMap<string, Channel>
  groups: ReadonlyMap<string, Group>
  tenants: ReadonlyMap<string, Tenant>
}

export interface Tenant {
  id: string
  name: string
  disabled: boolean
  /** True when the account has a hard budget: requests are admitted by reservation. */
  limited: boolean
  /** Of all its keys together. */
  limits: RateLimits
}

/** How fast something may be used; undefined: as fast as it likes. */
export interface RateLimits {
  requestsPerMinute: number | undefined
  tokensPerMinute: number | undefined
  /** Requests that run at once. */
  concurrency: number | undefined
}

export interface Model {
  id: string
  /** Other names that clients may call it by. */
  aliases: readonly string[]
  /** Ids of models that answer in its stead, in this order, when none of its channels can. */
  fallbacks: readonly string[]
  contextLength: number | undefined
  maxOutputTokens: number | undefined
  price: Price | undefined
  /** What of image requests it takes; undefined: nothing was said of it, so only channels that speak the format are asked. */
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
}

export interface Channel {
  id: string
  name: string
  protocols: Readonly<Partial<Record<ProtocolName, string>>>
  priority: number
  weight: number
  /** A list: of private addresses only those within these CIDR blocks. */
  allowPrivateAddress: boolean | readonly string[]
  /** Decrypted; at least one, in file order. An empty string: the upstream wants none. */
  credentials: readonly string[]
  /** Most image jobs that all processes together give it at once, and in a minute; undefined: unbounded. */
  imageConcurrency: number | undefined
  imagesPerMinute: number | undefined
}

export interface Group {
  id: string
  name: string
  /** `['*']`: all. */
  models: readonly string[]
  channels: readonly string[]
  /** Decimal string, as written on the row. */
  priceMultiplier: string
  /** Of queued images: 0 to 100, higher first. */
  imagePriority: number
  clientGone: { policy: 'drain' | 'abort'; seconds: number }
  /** Of each of its keys that has none of its own. */
  limits: RateLimits
  /** Of all its keys together. */
  totalLimits: RateLimits
  /** True when what its keys spend together is bounded: requests are admitted by reservation. */
  budgeted: boolean
}

/** One version of a model's price. Nano-USD per million tokens; undefined: not known, never free. */
export interface Price {
  id: string
  input: bigint | undefined
  cacheRead: bigint | undefined
  cacheWrite: bigint | undefined
  output: bigint | undefined
  reasoning: bigint | undefined
  /** Nano-USD per image. */
  image: bigint | undefined
  /** Of images of one size or quality; the first that names most of an image's goes before `image`. */
  imageRates: readonly ImageRate[]
}

export interface ImageRate {
  size: string | undefined
  quality: string | undefined
  /** Nano-USD per image. */
  nano: bigint
}
