import { LRUCache } from 'lru-cache'
import type { Credential } from './credentials.ts'

export interface CooldownBounds {
  /** How long a credential that an upstream refuses is passed over. */
  credentialRestMs: number
  /** The longest `retry-after` of an upstream that is believed. */
  retryAfterMsMax: number
}

/** A credential that is passed over for a while. */
export interface CredentialCooldown {
  /** On the clock of performance.now(). */
  until: number
  why: 'limited' | 'refused' | 'forbidden'
  /** The upstream said for how long: it is not asked before. Else only others are asked before it. */
  isFirm: boolean
}

/** Clients may name any model of a channel that takes them all: what rests is bounded. */
const cooldownsMax = 10_000
/** A limit that is told without its end is taken to be over sooner than a refusal. */
const limitedFraction = 6

/**
 * Credentials of this process that rest. A refused one rests for all models; one that is forbidden a model rests for
 * that model, and a limit is of one model, too, as vendors count them.
 */
export class CredentialCooldowns {
  readonly #bounds: CooldownBounds
  readonly #cooldowns = new LRUCache<string, CredentialCooldown>({ max: cooldownsMax })

  constructor(bounds: CooldownBounds) {
    this.#bounds = bounds
  }

  /** The one that lasts longest; undefined: it may be used. */
  find(channelId: string, { name }: Credential, upstreamModel: string): CredentialCooldown | undefined {
    if (this.#cooldowns.size === 0) return undefined
    const refused = this.#current(keyOf(channelId, name, ''))
    const ofModel = this.#current(keyOf(channelId, name, upstreamModel))
    if (refused === undefined || ofModel === undefined) return refused ?? ofModel
    return refused.until > ofModel.until ? refused : ofModel
  }

  /** Begins now. True: it did not rest before. */
  begin(
    channelId: string,
    credential: Credential,
    upstreamModel: string,
    why: CredentialCooldown['why'],
    retryAfterSeconds: number | undefined,
  ): boolean {
    const { credentialRestMs, retryAfterMsMax } = this.#bounds
    const isNew = this.find(channelId, credential, upstreamModel) === undefined
    const model = why === 'refused' ? '' : upstreamModel
    const isFirm = why === 'limited' && retryAfterSeconds !== undefined
    const ms = isFirm
      ? Math.min(retryAfterSeconds * 1000, retryAfterMsMax)
      : why === 'limited'
        ? credentialRestMs / limitedFraction
        : credentialRestMs
    this.#cooldowns.set(keyOf(channelId, credential.name, model), {
      until: performance.now() + ms,
      why,
      isFirm,
    })
    return isNew
  }

  #current(key: string): CredentialCooldown | undefined {
    const cooldown = this.#cooldowns.get(key)
    if (cooldown === undefined || cooldown.until > performance.now()) return cooldown
    this.#cooldowns.delete(key)
    return undefined
  }
}

/** Ids and names have no spaces. */
function keyOf(channelId: string, credentialName: string, upstreamModel: string): string {
  return `${channelId} ${credentialName} ${upstreamModel}`
}
