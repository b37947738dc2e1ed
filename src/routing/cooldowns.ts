import { LRUCache } from 'lru-cache'
import type { Clock } from '../runtime/clock.ts'
import type { Credential } from './credentials.ts'

export interface CooldownBounds {
  /** The cooldown of a credential that an upstream refused. */
  credentialRestMs: number
  /** The longest `retry-after` from an upstream that is respected. */
  retryAfterMsMax: number
}

/** The period during which a credential is passed over. */
export interface CredentialCooldown {
  /** A time of `Clock.elapsed`. */
  until: number
  /** The same according to the upstream, which may be later than what is respected. */
  saidUntil: number
  why: 'limited' | 'refused' | 'forbidden'
  /**
   * Whether the upstream stated the time, in which case the credential is never used earlier. Otherwise other
   * credentials are merely preferred.
   */
  isFirm: boolean
}

export interface Refusal {
  /** A time of `Clock.elapsed`. */
  since: number
  reason: string
}

/** A limit is needed, because clients can name any model on a channel that passes all names through. */
const cooldownsMax = 10_000
/** A rate limit without `retry-after` causes a cooldown of this fraction of the time after a refusal. */
const limitedFraction = 6

/**
 * The cooldowns of credentials in this process. A refused credential cools down for all models. One that is
 * forbidden for a model, or has reached a rate limit, cools down only for that model, because vendors limit
 * by model.
 */
export class CredentialCooldowns {
  readonly #bounds: CooldownBounds
  readonly #clock: Clock
  readonly #cooldowns = new LRUCache<string, CredentialCooldown>({ max: cooldownsMax })
  /** The credentials whose last call was refused, in a cooldown or on trial after it. */
  readonly #refused = new LRUCache<string, Refusal>({ max: cooldownsMax })

  constructor(bounds: CooldownBounds, clock: Clock) {
    this.#bounds = bounds
    this.#clock = clock
  }

  /** Returns the longest of the cooldowns that apply, or undefined if the credential can be used. */
  find(channelId: string, { name }: Credential, upstreamModel: string): CredentialCooldown | undefined {
    if (this.#cooldowns.size === 0) return undefined
    const refused = this.#current(keyOf(channelId, name, ''))
    const ofModel = this.#current(keyOf(channelId, name, upstreamModel))
    if (refused === undefined || ofModel === undefined) return refused ?? ofModel
    return refused.until > ofModel.until ? refused : ofModel
  }

  /** Returns the current cooldowns of a channel. `model` is undefined if a cooldown applies to all models. */
  of(
    channelId: string,
  ): { credential: string; model: string | undefined; why: CredentialCooldown['why']; leftMs: number }[] {
    const now = this.#clock.elapsed()
    return [...this.#cooldowns.entries()].flatMap(([key, { until, why }]) => {
      const [channel, credential = '', ...model] = key.split(' ')
      if (channel !== channelId || until <= now) return []
      return [{ credential, model: model.join(' ') || undefined, why, leftMs: Math.ceil(until - now) }]
    })
  }

  /**
   * Returns the number of credentials in a cooldown by channel id and reason. A credential can have cooldowns
   * for two reasons.
   */
  counts(): ReadonlyMap<string, Readonly<Record<CredentialCooldown['why'], number>>> {
    const now = this.#clock.elapsed()
    const seen = new Set<string>()
    const counts = new Map<string, Record<CredentialCooldown['why'], number>>()
    for (const [key, { until, why }] of this.#cooldowns.entries()) {
      if (until <= now) continue
      const [channel = '', credential = ''] = key.split(' ', 2)
      const of = counts.get(channel) ?? { limited: 0, refused: 0, forbidden: 0 }
      counts.set(channel, of)
      // A credential may be limited, or forbidden, for several models.
      const name = `${channel} ${credential} ${why}`
      if (!seen.has(name)) of[why]++
      seen.add(name)
    }
    return counts
  }

  /**
   * Returns since when all of these credentials have been refused, and the last refusal; undefined if one has
   * not, or has been accepted since.
   */
  refusalOf(channelId: string, credentials: readonly Credential[]): Refusal | undefined {
    if (this.#refused.size === 0) return undefined
    let last: Refusal | undefined
    for (const { name } of credentials) {
      const refusal = this.#refused.get(keyOf(channelId, name, ''))
      if (refusal === undefined) return undefined
      if (last === undefined || refusal.since > last.since) last = refusal
    }
    return last
  }

  /** Notes that the upstream has answered a call with the credential. */
  accept(channelId: string, { name }: Credential): void {
    if (this.#refused.size > 0) this.#refused.delete(keyOf(channelId, name, ''))
  }

  /** Starts a cooldown; `reason` is that of a refusal. Returns whether the credential had none before. */
  begin(
    channelId: string,
    credential: Credential,
    upstreamModel: string,
    why: CredentialCooldown['why'],
    retryAfterSeconds: number | undefined,
    reason = '',
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
    const now = this.#clock.elapsed()
    const key = keyOf(channelId, credential.name, model)
    if (why === 'refused') this.#refused.set(key, { since: this.#refused.get(key)?.since ?? now, reason })
    this.#cooldowns.set(key, {
      until: now + ms,
      saidUntil: now + (isFirm ? retryAfterSeconds * 1000 : ms),
      why,
      isFirm,
    })
    return isNew
  }

  #current(key: string): CredentialCooldown | undefined {
    const cooldown = this.#cooldowns.get(key)
    if (cooldown === undefined || cooldown.until > this.#clock.elapsed()) return cooldown
    this.#cooldowns.delete(key)
    return undefined
  }
}

/** Ids and names contain no spaces. */
function keyOf(channelId: string, credentialName: string, upstreamModel: string): string {
  return `${channelId} ${credentialName} ${upstreamModel}`
}
