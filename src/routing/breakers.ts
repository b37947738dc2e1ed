import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../telemetry/log.ts'
import { Breaker, type BreakerBounds, openMsOf } from './breaker.ts'
import type { ChannelReport } from './breaker-queries.ts'

export interface BreakersOptions {
  bounds: BreakerBounds
  /** The channels of the catalog by id. `follow` replaces them later. */
  channels: ReadonlyMap<string, ResetCount>
  /** This process as registered in Postgres. Its id may change. */
  instance: { readonly id: string }
  clock: Clock
  /** Reports all that is wrong with channels in this process. Rejects while Postgres is down. */
  report(instanceId: string, reports: readonly ChannelReport[]): Promise<void>
  /** Returns the channels of which the upstream refuses all credentials. */
  refusals?: (() => readonly ChannelReport[]) | undefined
  log: Log
  /** Called on each opening. */
  onOpened?: ((channel: string) => void) | undefined
  /** The interval between checks of running calls and between reports. Default: 1000. */
  sweepMs?: number
  chance?: () => number
}

export interface ResetCount {
  /** How often an admin has reset its breaker. */
  breakerResets?: number | undefined
}

/**
 * The result of a call for the breaker of its channel. `left` means that the client disconnected, and
 * `nothing` that the call says nothing about the channel, for example because this process is shutting down.
 */
export type CallOutcome = 'failure' | 'life' | 'left' | 'nothing'

/** A running call, as seen by the breaker of its channel. Only the first call of `end` has an effect. */
export interface BreakerCall {
  /**
   * Called when the headers of the upstream's response arrive. A successful status proves that the channel
   * works, long before a long response ends; any status proves that it is not silent.
   */
  answered(status: number): void
  /** `openMs` is how long the upstream told us not to call it. */
  end(outcome: CallOutcome, reason: string, openMs?: number): void
}

/** A probe without a response no longer keeps other requests from probing after this time. */
const probeMsMax = 30_000
/** A client that left sooner says nothing about the channel: many leave because they changed their mind. */
const longWaitMs = 3_000
/** A channel is reported as silent after this part of `breakerSilenceMs`. */
const silentPart = 1 / 4
/** Clients that left unanswered count for this long. */
const leftMsMax = 600_000

/**
 * The breakers of all channels in this process. They depend only on what this process has seen, so every
 * process probes for itself. A report in Postgres shows which ones are open, for people and alerts; it does
 * not influence decisions.
 */
export class Breakers {
  readonly #options: BreakersOptions
  readonly #clock: Clock
  readonly #chance: () => number
  readonly #states = new Map<string, State>()
  readonly #timer: NodeJS.Timeout
  #channels: BreakersOptions['channels']
  #isReported = true
  /** The troubles in the last report. */
  #reported: readonly ChannelReport[] = []
  /** The id of this process in the last report. */
  #reportedAs: string
  #isReporting = false

  constructor(options: BreakersOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#chance = options.chance ?? Math.random
    this.#channels = options.channels
    this.#reportedAs = options.instance.id
    this.#timer = setInterval(() => this.#sweep(), options.sweepMs ?? 1_000).unref()
  }

  /** Forgets channels that are no longer in the catalog, and closes the breakers that an admin has reset. */
  follow(channels: BreakersOptions['channels']): void {
    for (const [channelId, state] of this.#states) {
      const channel = channels.get(channelId)
      if (channel === undefined) this.#states.delete(channelId)
      else if (channel.breakerResets !== this.#channels.get(channelId)?.breakerResets) close(state)
      else continue
      this.#isReported = false
    }
    this.#channels = channels
  }

  /** Returns the reason to prefer other channels to this one, or undefined if it can be called. */
  whyNot(channelId: string): string | undefined {
    const state = this.#states.get(channelId)
    if (state?.breaker.openUntil === undefined) return undefined
    const leftMs = state.breaker.openUntil - this.#clock.elapsed()
    if (leftMs > 0) return `breaker open for ${Math.ceil(leftMs / 1000)} s: ${state.breaker.reason}`
    if (state.probe === undefined) return undefined
    return `breaker half open, another request is probing the channel: ${state.breaker.reason}`
  }

  isOpen(channelId: string): boolean {
    return this.#states.get(channelId)?.breaker.openUntil !== undefined
  }

  /** Starts a call, even if `whyNot` returned a reason against it. */
  begin(channelId: string, channelName: string): BreakerCall {
    const state = this.#stateOf(channelId, channelName)
    const clock = this.#clock
    const now = clock.elapsed()
    const { openUntil } = state.breaker
    const isProbe = state.probe === undefined && openUntil !== undefined && openUntil <= now
    const kind = openUntil === undefined ? 'counted' : isProbe ? 'probe' : 'last resort'
    const call: RunningCall = {
      kind,
      epoch: state.breaker.epoch,
      begunAt: now,
      status: undefined,
      hasEnded: false,
    }
    if (kind === 'probe') state.probe = call
    if (state.unanswered.size === 0) {
      state.quietSince = now
      if (state.left === 0) state.silentSince = now
    }
    state.unanswered.add(call)
    return {
      answered(status) {
        if (call.status === undefined && !call.hasEnded) noteAnswer(state, call, clock.elapsed())
        call.status = status
      },
      end: (outcome, reason, openMs) => this.#end(state, call, outcome, reason, openMs),
    }
  }

  end(): void {
    clearInterval(this.#timer)
  }

  #end(
    state: State,
    call: RunningCall,
    outcome: CallOutcome,
    reason: string,
    openMs: number | undefined,
  ): void {
    if (call.hasEnded) return
    call.hasEnded = true
    const now = this.#clock.elapsed()
    if (call.status === undefined) {
      if (outcome === 'left') noteLeft(state, call, now)
      else noteAnswer(state, call, now)
    }
    const { breaker } = state
    if (state.probe === call) state.probe = undefined
    // The result is ignored if the breaker has opened or closed since this call began, or if the call was a
    // last resort.
    if (call.epoch !== breaker.epoch || call.kind === 'last resort') return
    switch (outcome) {
      case 'left':
      case 'nothing':
        return
      case 'life':
        if (call.kind === 'probe') this.#close(state)
        else breaker.countLife(now)
        return
      case 'failure':
        if (call.kind === 'probe' || openMs !== undefined || breaker.countFailure(this.#options.bounds, now))
          this.#open(state, reason, openMs)
    }
  }

  #open(state: State, reason: string, openMs: number | undefined): void {
    const { breaker, channelName } = state
    const openings = breaker.openings + 1
    const forMs = openMs ?? openMsOf(this.#options.bounds, openings, this.#chance)
    breaker.open(forMs, openings, reason, this.#clock.elapsed())
    state.probe = undefined
    this.#isReported = false
    this.#options.onOpened?.(channelName)
    this.#options.log.warn(
      { channel: channelName, openMs: forMs, openings, cause: reason },
      'a channel is failing; others are preferred for a while',
    )
  }

  #close(state: State): void {
    close(state)
    this.#isReported = false
    this.#options.log.info({ channel: state.channelName }, 'a channel that failed is working again')
  }

  #sweep(): void {
    const now = this.#clock.elapsed()
    for (const state of this.#states.values()) {
      if (state.probe !== undefined) this.#checkProbe(state, state.probe, now)
      this.#lookForSilence(state, now)
    }
    void this.#report()
  }

  /**
   * Always sends the complete report, because a process that was taken for dead gets a new id. After a
   * failure, the next sweep tries again.
   */
  async #report(): Promise<void> {
    const { instance, report } = this.#options
    const { id } = instance
    if (this.#isReporting) return
    const troubles = this.#troubles()
    const isSaid = this.#isReported && this.#reportedAs === id && isSame(troubles, this.#reported)
    if (isSaid) return
    this.#isReporting = true
    this.#isReported = true
    try {
      await report(id, [...this.#openBreakers(), ...troubles])
      this.#reportedAs = id
      this.#reported = troubles
    } catch {
      this.#isReported = false
    }
    this.#isReporting = false
  }

  /** Returns what is wrong with channels whose breaker is closed. */
  #troubles(): ChannelReport[] {
    const now = this.#clock.elapsed()
    const refused = (this.#options.refusals?.() ?? []).filter(({ channelId }) => !this.isOpen(channelId))
    const silent = [...this.#states].flatMap(([channelId, state]) => {
      const since = refused.some((one) => one.channelId === channelId)
        ? undefined
        : this.#silentSince(state, now)
      if (since === undefined) return []
      const [oldest] = state.unanswered
      return [
        {
          ...{ channelId, kind: 'silent' as const, openings: 0, reason: '', leftMs: 0 },
          lastsMs: now - since,
          waiting: state.unanswered.size,
          oldestMs: oldest && now - oldest.begunAt,
        },
      ]
    })
    return [...refused, ...silent]
  }

  /**
   * Returns since when the channel has answered none of its calls, if that is long: longer than its recent
   * answers took, and with as many calls as open a breaker.
   */
  #silentSince(state: State, now: number): number | undefined {
    const { breakerFailures, breakerSilenceMs } = this.#options.bounds
    const { breaker, unanswered, left, leftAt, silentSince, answerMs } = state
    if (breaker.openUntil !== undefined || unanswered.size + left < breakerFailures) return undefined
    if (unanswered.size === 0 && now - leftAt > leftMsMax) return undefined
    const isLong = now - silentSince >= Math.max(breakerSilenceMs * silentPart, 2 * answerMs)
    return isLong ? silentSince : undefined
  }

  #openBreakers(): ChannelReport[] {
    const now = this.#clock.elapsed()
    return [...this.#states].flatMap(([channelId, { breaker }]) => {
      const { openUntil, openedAt, openings, reason } = breaker
      if (openUntil === undefined) return []
      return [
        {
          ...{ channelId, kind: 'breaker' as const, openings, reason },
          lastsMs: now - openedAt,
          leftMs: Math.max(0, openUntil - now),
        },
      ]
    })
  }

  /**
   * Calls of models that think for a long time may be silent for minutes, so only a larger number of calls
   * without any response indicates a problem.
   */
  #lookForSilence(state: State, now: number): void {
    const { breakerFailures, breakerSilenceMs } = this.#options.bounds
    const { breaker, unanswered, quietSince } = state
    if (breaker.openUntil !== undefined || unanswered.size < breakerFailures) return
    if (now - quietSince < breakerSilenceMs) return
    const reason = `no response to any of ${unanswered.size} calls for ${Math.round((now - quietSince) / 1000)} s`
    state.quietSince = now
    this.#open(state, reason, undefined)
  }

  #checkProbe(state: State, probe: RunningCall, now: number): void {
    if (probe.status !== undefined && probe.status >= 200 && probe.status <= 299) {
      this.#close(state)
      // From now on it is treated like any other call.
      probe.kind = 'counted'
      probe.epoch = state.breaker.epoch
    } else if (now - probe.begunAt > probeMsMax) {
      // Its result still counts when it ends, unless another probe has already decided.
      state.probe = undefined
    }
  }

  #stateOf(channelId: string, channelName: string): State {
    const known = this.#states.get(channelId)
    if (known !== undefined) return known
    const state: State = {
      ...{ channelName, breaker: new Breaker(), probe: undefined, unanswered: new Set<RunningCall>() },
      ...{ quietSince: 0, silentSince: 0, left: 0, leftAt: 0, answerMs: 0 },
    }
    this.#states.set(channelId, state)
    return state
  }
}

interface State {
  channelName: string
  breaker: Breaker
  /** The request that probes the channel while its breaker is half open. */
  probe: RunningCall | undefined
  /** The running calls without a response so far, the oldest first. */
  unanswered: Set<RunningCall>
  /** When a call was last answered, or when the first of the unanswered calls began. */
  quietSince: number
  /** The same, counting the calls whose clients left after a long wait as unanswered. */
  silentSince: number
  /** The number of such calls since the last answer, and when the last of these clients left. */
  left: number
  leftAt: number
  /** How long recent answers took to begin: the longest of them, which is forgotten gradually. */
  answerMs: number
}

interface RunningCall {
  /** `last resort` means that the breaker was open and no other target was left. */
  kind: 'counted' | 'probe' | 'last resort'
  epoch: number
  begunAt: number
  /** The status of the response; undefined if it has not arrived yet. */
  status: number | undefined
  hasEnded: boolean
}

function noteAnswer(state: State, call: RunningCall, now: number): void {
  state.unanswered.delete(call)
  state.quietSince = now
  state.silentSince = now
  state.left = 0
  state.answerMs = Math.max(now - call.begunAt, state.answerMs * 0.9)
}

/** That a client gave up is no sign of life of the upstream. */
function noteLeft(state: State, call: RunningCall, now: number): void {
  state.unanswered.delete(call)
  if (now - call.begunAt < longWaitMs) return
  state.left++
  state.leftAt = now
}

/** Whether a report would say the same again, apart from the time that has passed. */
function isSame(some: readonly ChannelReport[], others: readonly ChannelReport[]): boolean {
  const keyOf = ({ channelId, kind, reason, waiting }: ChannelReport) =>
    [channelId, kind, reason, waiting].join()
  return some.map(keyOf).join() === others.map(keyOf).join()
}

function close(state: State): void {
  state.breaker.close()
  state.probe = undefined
}
