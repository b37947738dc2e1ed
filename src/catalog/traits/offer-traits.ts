import { LRUCache } from 'lru-cache'
import { mergeTraits, type Traits } from '../../canonical/traits.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'
import { families } from './families.ts'
import type { VendorName } from './vendors.ts'
import { vendors } from './vendors.ts'

/** What the catalog knows about an offer, in addition to the built-in tables. */
export interface KnownOfOffer {
  vendor: VendorName | undefined
  /** From gateway.yaml, in increasing order of precedence: of the model, the channel and the offer. */
  stated: readonly Traits[]
  /** Traits learned from probes and refusals. */
  verdicts: readonly TraitVerdict[]
}

/** A trait that was established by a probe or by the upstream's refusals. */
export interface TraitVerdict {
  protocol: ProtocolName
  /** The upstream's name for the model. */
  upstreamModel: string
  traits: Traits
  decidedAt: Date
  /** Undefined: valid until replaced. */
  expiresAt: Date | undefined
}

/**
 * The traits of one offer, merged from the vendor's traits, those of the model's family, verdicts and
 * gateway.yaml. Later sources override earlier ones. Equal traits are the same object, so that translations
 * can be cached by it.
 */
export class OfferTraits {
  readonly #known: KnownOfOffer
  readonly #found = new Map<string, Found>()
  /** Most offers are requested under a single model name. */
  #last: Found | undefined

  constructor(known: KnownOfOffer) {
    this.#known = known
  }

  of(protocol: ProtocolName, upstreamModel: string): Traits {
    const last = this.#last
    if (last?.protocol === protocol && last.upstreamModel === upstreamModel && isInForce(last))
      return last.traits
    const name = `${protocol} ${upstreamModel}`
    const known = this.#found.get(name)
    const found = known !== undefined && isInForce(known) ? known : this.#find(name, protocol, upstreamModel)
    this.#last = found
    return found.traits
  }

  #find(name: string, protocol: ProtocolName, upstreamModel: string): Found {
    const { vendor, stated } = this.#known
    const verdicts = this.verdictsOn(protocol, upstreamModel)
    const traits = mergeTraits(
      vendor === undefined ? undefined : vendors[vendor].traits[protocol],
      builtInTraits(protocol, upstreamModel, vendor),
      ...verdicts.map((verdict) => verdict.traits),
      ...stated,
    )
    const until = Math.min(
      ...verdicts.map(({ expiresAt }) => expiresAt?.getTime() ?? Number.POSITIVE_INFINITY),
    )
    // If an offer serves any model, clients can request arbitrary names.
    if (this.#found.size >= namesMax) this.#found.clear()
    const found = { protocol, upstreamModel, traits: shared(traits), until }
    this.#found.set(name, found)
    return found
  }

  /** The verdicts that are currently in force. */
  verdictsOn(protocol: ProtocolName, upstreamModel: string): TraitVerdict[] {
    const now = Date.now()
    return this.#known.verdicts.filter(
      (verdict) =>
        verdict.protocol === protocol &&
        verdict.upstreamModel === upstreamModel &&
        (verdict.expiresAt === undefined || verdict.expiresAt.getTime() > now),
    )
  }
}

interface Found {
  readonly protocol: ProtocolName
  readonly upstreamModel: string
  readonly traits: Traits
  /** Milliseconds since the epoch; infinite for most entries. */
  readonly until: number
}

function isInForce({ until }: Found): boolean {
  return until === Number.POSITIVE_INFINITY || until > Date.now()
}

const namesMax = 1000

/** The traits of a model in the built-in table. */
export function builtInTraits(
  protocol: ProtocolName,
  upstreamModel: string,
  vendor: VendorName | undefined,
): Traits {
  const whole = upstreamModel.toLowerCase()
  const last = whole.slice(whole.lastIndexOf('/') + 1)
  return mergeTraits(
    ...families
      .filter(({ models }) => models.test(whole) || models.test(last))
      .filter(({ vendors }) => vendors === undefined || (vendor !== undefined && vendors.includes(vendor)))
      .filter(({ protocols }) => protocols === undefined || protocols.includes(protocol))
      .map(({ traits }) => traits),
  )
}

function shared(traits: Traits): Traits {
  const text = JSON.stringify(traits, (_, value: unknown) => sorted(value))
  const known = byText.get(text)
  if (known !== undefined) return known
  byText.set(text, traits)
  return traits
}

/** Sorts the members by name, so that equal traits produce equal text. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const byText = new LRUCache<string, Traits>({ max: 10_000 })
