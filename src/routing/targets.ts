import type { Channel, Model } from '../catalog/snapshot.ts'
import type { Need } from '../catalog/traits/needs.ts'
import type { Candidate, Target } from './candidates.ts'
import type { CredentialCooldown } from './cooldowns.ts'
import { type Credential, credentialsOf, everyCredentialOf } from './credentials.ts'
import type { Routing } from './routing.ts'
import type { Session } from './session.ts'
import type { Verdict } from './verdict.ts'

/** A model that may serve the request, with its candidates in order. */
export interface ModelCandidates {
  model: Model
  candidates: readonly Candidate[]
  /** The public id of the model if it replaces the requested model. */
  fallback: string | undefined
  /** The candidates that cannot or must not serve the request. */
  leftOut?: readonly LeftOut[]
  /** The channels of the model that a person has blocked. */
  blocked: readonly Channel[]
  /** Why there are no candidates. */
  refused?: { channel: Channel | undefined; reason: string }
}

/** A candidate that is not called, because it lacks a capability or must not receive the request. */
export interface LeftOut {
  candidate: Candidate
  /** Undefined if no capability is missing. */
  need: Need | undefined
  /** The path of an id that must not be sent to its vendor. */
  state?: string
  reason: string
}

/** A candidate that was passed over. Its protocol and model may be unknown. */
export type PassedOverCandidate = Pick<Candidate, 'channel'> &
  Partial<Pick<Candidate, 'protocol' | 'upstreamModel'>>

export interface Chosen {
  modelCandidates: ModelCandidates
  target: Target
  /** Whether a breaker or a cooldown advises against it, but no other target is left. */
  isLastResort: boolean
}

/**
 * The result of the last chosen target. `untranslatable` means that its format cannot express the request.
 * `reached` is false if there was no response.
 */
export type TargetResult = { next: Verdict['next'] | 'untranslatable'; reached: boolean }

/**
 * Chooses the targets of a request one after the other: first the targets that breakers and cooldowns
 * currently allow, model by model and in order, calling `passOver` with the reason for each other candidate.
 * If none is left, it chooses one last resort: the best target without a firm cooldown, because breakers and
 * refused credentials divert requests but do not refuse them. It never chooses a target twice, nor a channel
 * that is full or that this request could not reach.
 */
export class Targets {
  readonly #routing: Routing
  readonly #planned: readonly ModelCandidates[]
  readonly #findSession: () => Session | undefined
  readonly #passOver: PassOver
  #modelAt = 0
  #candidateAt = -1
  #cursor: Cursor | undefined
  #chosen: Chosen | undefined
  /** Undefined until a target has failed, because most requests need only one. */
  #failed: Failed | undefined
  /** Whether a channel was passed over because it is running its maximum number of requests. */
  hasMetFull = false
  /** The best one first. */
  #lastResorts: Chosen[] = []

  constructor(
    routing: Routing,
    planned: readonly ModelCandidates[],
    findSession: () => Session | undefined,
    passOver: PassOver,
  ) {
    this.#routing = routing
    this.#planned = planned
    this.#findSession = findSession
    this.#passOver = passOver
  }

  /** Returns the first target or, given the result of the last one, the next. Undefined if none is left. */
  next(result?: TargetResult): Chosen | undefined {
    if (result !== undefined) this.#noteResult(result)
    for (;;) {
      const chosen = this.#nextCredential()
      if (chosen !== undefined) {
        this.#chosen = chosen
        return chosen
      }
      if (!this.#nextCandidate()) break
    }
    if (this.#chosen?.isLastResort === true && result?.next !== 'untranslatable') return undefined
    const last = this.#lastResorts.find(({ target }) => this.#isPossible(target))
    if (last !== undefined) this.#chosen = last
    return last
  }

  #noteResult({ next, reached }: TargetResult): void {
    if (this.#chosen === undefined) return
    const { target } = this.#chosen
    this.#failed ??= { tried: new Set(), untranslatable: new Set(), unreached: new Set() }
    this.#failed.tried.add(keyOf(target))
    if (next === 'untranslatable') this.#failed.untranslatable.add(target.protocol)
    // A request that could not be signed says nothing about the channel.
    if (!reached && next !== 'credential') this.#failed.unreached.add(target.channel.id)
    if (next !== 'credential') this.#cursor = undefined
  }

  #nextCandidate(): boolean {
    this.#cursor = undefined
    this.#candidateAt++
    for (; this.#modelAt < this.#planned.length; this.#modelAt++, this.#candidateAt = 0) {
      const modelCandidates = this.#planned[this.#modelAt]
      if (modelCandidates === undefined) break
      const { refused } = modelCandidates
      if (refused?.channel !== undefined)
        this.#passOver(modelCandidates, { channel: refused.channel }, refused.reason)
      if (this.#candidateAt === 0) {
        for (const channel of modelCandidates.blocked)
          this.#passOver(modelCandidates, { channel }, blockedReason)
        for (const { candidate, reason } of modelCandidates.leftOut ?? [])
          this.#passOver(modelCandidates, candidate, reason)
      }
      for (; this.#candidateAt < modelCandidates.candidates.length; this.#candidateAt++) {
        const candidate = modelCandidates.candidates[this.#candidateAt]
        if (candidate === undefined) continue
        if (this.#isHopeless(candidate)) {
          if (this.#isUnreached(candidate)) this.#passOver(modelCandidates, candidate, unreachedReason)
          continue
        }
        const full = this.#routing.load.whyFull(candidate.channel)
        if (full !== undefined) {
          this.hasMetFull = true
          this.#passOver(modelCandidates, candidate, full)
          continue
        }
        this.#cursor = this.#cursorAt(modelCandidates, candidate)
        return true
      }
    }
    return false
  }

  #isHopeless(candidate: Candidate): boolean {
    return this.#failed?.untranslatable.has(candidate.protocol) === true || this.#isUnreached(candidate)
  }

  #isUnreached({ channel }: Candidate): boolean {
    return this.#failed?.unreached.has(channel.id) === true
  }

  /** Returns whether the target can be used as a last resort. */
  #isPossible(target: Target): boolean {
    if (this.#isTried(target) || this.#isHopeless(target)) return false
    return this.#routing.load.whyFull(target.channel) === undefined
  }

  #isTried(target: Target): boolean {
    return this.#failed?.tried.has(keyOf(target)) === true
  }

  #cursorAt(modelCandidates: ModelCandidates, candidate: Candidate): Cursor {
    const closed = this.#routing.breakers.whyNot(candidate.channel.id)
    if (closed !== undefined) this.#passOver(modelCandidates, candidate, closed)
    const credentials = pinned(candidate, credentialsOf(candidate.channel, this.#findSession))
    return { modelCandidates, candidate, closed, credentials, at: 0, cooldown: '', isTried: false }
  }

  #nextCredential(): Chosen | undefined {
    const cursor = this.#cursor
    if (cursor === undefined) return undefined
    const { modelCandidates, candidate, closed, credentials } = cursor
    const { channel, upstreamModel } = candidate
    while (cursor.at < credentials.length) {
      const credential = credentials[cursor.at++]
      if (credential === undefined) break
      const cooldown = this.#routing.cooldowns.find(channel.id, credential, upstreamModel)
      const target = targetOf(modelCandidates, candidate, credential)
      if (closed === undefined && cooldown === undefined) {
        cursor.isTried = true
        return { modelCandidates, target, isLastResort: false }
      }
      if (cooldown !== undefined) cursor.cooldown = cooldownText(cooldown, this.#routing.clock.elapsed())
      if (cooldown?.isFirm === true || this.#isTried(target)) continue
      const why = closed ?? cursor.cooldown
      this.#lastResorts.push({ modelCandidates, target: asLastResort(target, why), isLastResort: true })
    }
    if (closed === undefined && !cursor.isTried) this.#passOver(modelCandidates, candidate, cursor.cooldown)
    return undefined
  }
}

/** For candidates of blocked channels. */
export const blockedReason = 'blocked by a person'

const unreachedReason = 'its channel did not respond earlier in this request'

type PassOver = (modelCandidates: ModelCandidates, candidate: PassedOverCandidate, reason: string) => void

/** The candidate whose credentials are tried next. */
interface Cursor {
  modelCandidates: ModelCandidates
  candidate: Candidate
  /** The breaker's reason if it is open. */
  closed: string | undefined
  credentials: readonly Credential[]
  at: number
  /** The cooldown of the last credential that has one; empty if none has. */
  cooldown: string
  isTried: boolean
}

/** The targets that have failed for this request. */
interface Failed {
  /** The keys of the targets. */
  tried: Set<string>
  /** The protocols to which the request cannot be translated. */
  untranslatable: Set<string>
  /** The channels that did not respond. They are not tried for another model either. */
  unreached: Set<string>
}

/**
 * Returns the time until the first credential can be used again according to its upstream, or undefined if no
 * upstream stated a time.
 */
export function soonestCooldownMs(routing: Routing, planned: readonly ModelCandidates[]): number | undefined {
  let soonest: number | undefined
  for (const { candidates } of planned) {
    for (const candidate of candidates) {
      for (const credential of pinned(candidate, everyCredentialOf(candidate.channel))) {
        const cooldown = routing.cooldowns.find(candidate.channel.id, credential, candidate.upstreamModel)
        if (cooldown?.isFirm !== true) continue
        soonest = Math.min(cooldown.saidUntil, soonest ?? cooldown.saidUntil)
      }
    }
  }
  return soonest === undefined ? undefined : Math.max(0, soonest - routing.clock.elapsed())
}

/** A pinned credential that the channel no longer has was replaced, so any of its credentials can be used. */
function pinned({ pinned: name }: Candidate, credentials: readonly Credential[]): readonly Credential[] {
  if (name === undefined) return credentials
  const held = credentials.filter((credential) => credential.name === name)
  return held.length > 0 ? held : credentials
}

function targetOf({ fallback }: ModelCandidates, candidate: Candidate, credential: Credential): Target {
  const { credentials } = candidate.channel
  let { reason } = candidate
  if (fallback !== undefined) reason = `fallback ${fallback}, ${reason}`
  if (credentials.length > 1)
    reason += `, credential ${credentials.indexOf(credential.secret) + 1} of ${credentials.length}`
  const { channel, protocol, native, baseUrl, upstreamModel, traits, price, libraryPrices, modelNamedBy } =
    candidate
  return {
    channel,
    protocol,
    native,
    baseUrl,
    upstreamModel,
    traits,
    price,
    libraryPrices,
    modelNamedBy,
    reason,
    credential,
  }
}

function asLastResort(target: Target, why: string): Target {
  return { ...target, reason: `last resort (${why}), ${target.reason}` }
}

function cooldownText({ why, until }: CredentialCooldown, now: number): string {
  const seconds = Math.max(1, Math.ceil((until - now) / 1000))
  return `${cooldownReasons[why]}: cooling down for ${seconds} s`
}

const cooldownReasons: Readonly<Record<CredentialCooldown['why'], string>> = {
  limited: 'rate limit',
  refused: 'credential refused',
  forbidden: 'credential refused for this model',
}

function keyOf({ channel, credential, upstreamModel }: Target): string {
  return `${channel.id} ${credential.name} ${upstreamModel}`
}
