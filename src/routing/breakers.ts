import { causeOf } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import type { Log } from '../telemetry/log.ts'
import { Breaker, type BreakerBounds, openMsOf } from './breaker.ts'
import type { BreakerTable, SharedBreaker } from './breaker-table.ts'

export interface BreakersOptions {
  bounds: BreakerBounds
  table: BreakerTable
  database: Pick<Database, 'listen'>
  log: Log
  /** Told of each opening by a failure that this process saw. */
  onOpened?: (channel: string) => void
  /** Time between two reads of the table, whether or not Postgres notified us. Default 1000. */
  sweepMs?: number
  /** After this time without an answer a probe no longer stops other requests from probing. Default 30000. */
  probeMsMax?: number
  chance?: () => number
}

/** The result of a call, for the breaker of its channel. `nothing`: the client left, or this process ends. */
export type Outcome = 'failure' | 'life' | 'nothing'

/** A call under way, for the breaker of its channel. Only its first `end` counts. */
export interface BreakerCall {
  /**
   * The head of the upstream's answer has come. A good one proves that the channel works, long before a long answer ends;
   * any proves that it is not silent.
   */
  answered(status: number): void
  /** `openMs`: the upstream said for how long we must not call it. */
  end(outcome: Outcome, reason: string, openMs?: number): void
}

/** Time that a claimed probe waits for a request, and that the claim of a running probe outlives its process. */
const claimMs = 5_000
const probeMsMax = 30_000
/** Another process probes the channel: we try to claim it again after this time, unless Postgres notifies us before. */
const heldMs = 500
/** We forget the state of a channel without a call for this long. */
const unusedMs = 600_000

/**
 * The breakers of all channels: of this process and, through Postgres, of all processes. No request waits for Postgres. A
 * breaker opens here at once, and a background write tells the others. When a breaker becomes half open, the first request
 * that wants the channel starts a claim of its probe and goes to another channel. While Postgres is away, every process
 * probes for itself.
 */
export class Breakers {
  readonly #options: BreakersOptions
  readonly #chance: () => number
  readonly #states = new Map<string, State>()
  readonly #timer: NodeJS.Timeout
  /** Orders reads and changes: a read that began before a change must not undo it. */
  #tick = 0
  #reading = false
  #readAgain = false
  #away = false
  #ended = false
  readonly #unlisten: () => Promise<void>

  constructor(options: BreakersOptions) {
    this.#options = options
    this.#chance = options.chance ?? Math.random
    this.#timer = setInterval(() => this.#sweep(), options.sweepMs ?? 1_000).unref()
    const read = () => this.#read()
    // If a notification is lost, the next sweep finds the change.
    this.#unlisten = options.database.listen('tollgate_breakers', { onNotify: read, onListening: read })
    this.#sweep()
  }

  /** The reason to call other channels before this one; undefined: it may be called. */
  whyNot(channelId: string): string | undefined {
    const state = this.#states.get(channelId)
    if (state === undefined || state.breaker.openUntil === undefined) return undefined
    const now = performance.now()
    const leftMs = state.breaker.openUntil - now
    if (leftMs > 0) return `breaker open for ${Math.ceil(leftMs / 1000)} s: ${state.breaker.reason}`
    if (mayProbe(state, now)) return undefined
    this.#claim(channelId, state, now)
    return `breaker half open, another request tries it: ${state.breaker.reason}`
  }

  isOpen(channelId: string): boolean {
    return this.#states.get(channelId)?.breaker.openUntil !== undefined
  }

  /** A call begins, even if `whyNot` gave a reason against it. */
  begin(channelId: string, channelName: string): BreakerCall {
    const state = this.#stateOf(channelId, channelName)
    const now = performance.now()
    state.breaker.usedAt = now
    const kind =
      state.breaker.openUntil === undefined ? 'counted' : mayProbe(state, now) ? 'probe' : 'last resort'
    const call: RunningCall = {
      kind,
      epoch: state.breaker.epoch,
      begunAt: now,
      status: undefined,
      hasEnded: false,
    }
    if (kind === 'probe') state.probe = call
    if (state.unanswered++ === 0) state.quietSince = now
    return {
      answered(status) {
        if (call.status === undefined && !call.hasEnded) noteAnswer(state)
        call.status = status
      },
      end: (outcome, reason, openMs) => this.#end(channelId, state, call, outcome, reason, openMs),
    }
  }

  async end(): Promise<void> {
    this.#ended = true
    clearInterval(this.#timer)
    await this.#unlisten()
  }

  #end(
    channelId: string,
    state: State,
    call: RunningCall,
    outcome: Outcome,
    reason: string,
    openMs: number | undefined,
  ): void {
    if (call.hasEnded) return
    call.hasEnded = true
    if (call.status === undefined) noteAnswer(state)
    const { breaker } = state
    const isHeld = state.probe === call
    if (isHeld) state.probe = undefined
    // The breaker opened or closed since this call began, or the call was a last resort: it decides nothing.
    if (call.epoch !== breaker.epoch || call.kind === 'last resort') return
    const now = performance.now()
    switch (outcome) {
      case 'nothing':
        // The next request may be the probe instead.
        if (isHeld) state.claimedUntil = now + claimMs
        return
      case 'life':
        if (call.kind === 'probe') this.#close(channelId, state)
        else breaker.countLife(now)
        return
      case 'failure':
        if (call.kind === 'probe' || openMs !== undefined || breaker.countFailure(this.#options.bounds, now))
          this.#open(channelId, state, reason, openMs)
    }
  }

  #open(channelId: string, state: State, reason: string, openMs: number | undefined): void {
    const { breaker, channelName } = state
    const openings = breaker.openings + 1
    const forMs = openMs ?? openMsOf(this.#options.bounds, openings, this.#chance)
    breaker.open(forMs, openings, reason, performance.now())
    if (channelName !== undefined) this.#options.onOpened?.(channelName)
    this.#options.log.warn(
      { channel: channelName, openMs: forMs, openings, cause: reason },
      'a channel fails: others are asked before it for a while',
    )
    this.#changed(channelId, state)
  }

  #close(channelId: string, state: State): void {
    state.breaker.close()
    this.#options.log.info({ channel: state.channelName }, 'a channel that failed answers again')
    this.#changed(channelId, state)
  }

  #changed(channelId: string, state: State): void {
    forgetProbe(state)
    state.changedAt = ++this.#tick
    state.unsaved = true
    if (!state.saving) void this.#save(channelId, state)
  }

  /** One statement at a time for each channel, always with its newest state. If it fails, the sweep tries again. */
  async #save(channelId: string, state: State): Promise<void> {
    const { table } = this.#options
    state.saving = true
    try {
      while (state.unsaved && !this.#ended) {
        state.unsaved = false
        const { openUntil, openings, reason } = state.breaker
        if (openUntil === undefined) await table.close(channelId)
        else await table.open(channelId, openings, Math.max(0, openUntil - performance.now()), reason)
      }
    } catch {
      state.unsaved = true
    }
    state.saving = false
    state.changedAt = ++this.#tick
  }

  #claim(channelId: string, state: State, now: number): void {
    if (state.probe !== undefined || state.claiming || now < state.claimAt) return
    // No other process knows yet that the breaker is open: none of them can probe.
    if (state.unsaved) {
      state.claimedUntil = now + claimMs
      return
    }
    if (state.saving) return
    state.claiming = true
    const { epoch } = state.breaker
    const decide = (verdict: 'claimed' | 'held' | 'closed') => {
      state.claiming = false
      if (state.breaker.epoch !== epoch) return
      const later = performance.now()
      switch (verdict) {
        case 'claimed':
          state.claimedUntil = later + claimMs
          return
        case 'held':
          state.claimAt = later + heldMs
          return
        case 'closed':
          state.breaker.close()
          forgetProbe(state)
          state.changedAt = ++this.#tick
      }
    }
    // Postgres is away: each process probes for itself.
    this.#options.table.claimProbe(channelId, claimMs).then(decide, () => decide('claimed'))
  }

  #sweep(): void {
    const now = performance.now()
    for (const [channelId, state] of this.#states) {
      const { breaker, probe } = state
      if (state.unsaved && !state.saving) void this.#save(channelId, state)
      if (probe !== undefined) this.#checkProbe(channelId, state, probe)
      this.#lookForSilence(channelId, state, now)
      const isUnused =
        state.unanswered === 0 &&
        breaker.openUntil === undefined &&
        !state.unsaved &&
        breaker.usedAt < now - unusedMs
      if (isUnused) this.#states.delete(channelId)
    }
    this.#read()
  }

  /** Calls of models that think for long may be silent for minutes: only many of them, and no answer to any, mean trouble. */
  #lookForSilence(channelId: string, state: State, now: number): void {
    const { breakerFailures, breakerSilenceMs } = this.#options.bounds
    const { breaker, unanswered, quietSince } = state
    if (breaker.openUntil !== undefined || unanswered < breakerFailures) return
    if (now - quietSince < breakerSilenceMs) return
    const reason = `no answer to any of ${unanswered} calls for ${Math.round((now - quietSince) / 1000)} s`
    state.quietSince = now
    this.#open(channelId, state, reason, undefined)
  }

  #checkProbe(channelId: string, state: State, probe: RunningCall): void {
    if (probe.status !== undefined && probe.status >= 200 && probe.status <= 299) {
      this.#close(channelId, state)
      // The rest of its answer counts like that of any other call.
      probe.kind = 'counted'
      probe.epoch = state.breaker.epoch
    } else if (performance.now() - probe.begunAt > (this.#options.probeMsMax ?? probeMsMax)) {
      // It still decides when it ends, unless another probe has decided before.
      forgetProbe(state)
    } else this.#options.table.holdProbe(channelId, claimMs).catch(() => {})
  }

  /** Never runs two reads at once: a call during a read repeats it. */
  #read(): void {
    this.#readAgain = true
    if (!this.#reading && !this.#ended) void this.#readUntilCurrent()
  }

  async #readUntilCurrent(): Promise<void> {
    this.#reading = true
    while (this.#readAgain && !this.#ended) {
      this.#readAgain = false
      const begunAt = ++this.#tick
      try {
        this.#apply(await this.#options.table.read(), begunAt)
        this.#away = false
      } catch (error) {
        if (!this.#away && !this.#ended)
          this.#options.log.warn(
            { cause: String(causeOf(error)) },
            'breakers of channels cannot be shared just now',
          )
        this.#away = true
        break
      }
    }
    this.#reading = false
  }

  #apply(rows: readonly SharedBreaker[], begunAt: number): void {
    const now = performance.now()
    const open = new Set<string>()
    for (const { channelId, openings, leftMs, reason } of rows) {
      open.add(channelId)
      const state = this.#stateOf(channelId, undefined)
      const { breaker } = state
      if (state.unsaved || state.saving || state.changedAt > begunAt) continue
      const isReopened = breaker.openUntil === undefined || (breaker.openUntil <= now && leftMs > 0)
      if (isReopened) {
        breaker.open(leftMs, openings, reason, now)
        forgetProbe(state)
        state.claimAt = 0
      } else if (leftMs > 0) {
        breaker.openUntil = now + leftMs
        breaker.openings = openings
      }
    }
    for (const [channelId, state] of this.#states) {
      if (state.unsaved || state.saving || state.changedAt > begunAt) continue
      if (state.breaker.openUntil === undefined || open.has(channelId)) continue
      state.breaker.close()
      forgetProbe(state)
    }
  }

  #stateOf(channelId: string, channelName: string | undefined): State {
    const known = this.#states.get(channelId)
    if (known !== undefined) {
      known.channelName ??= channelName
      return known
    }
    const state: State = {
      channelName,
      breaker: new Breaker(),
      probe: undefined,
      unanswered: 0,
      quietSince: 0,
      claiming: false,
      claimAt: 0,
      claimedUntil: 0,
      unsaved: false,
      saving: false,
      changedAt: 0,
    }
    this.#states.set(channelId, state)
    return state
  }
}

interface State {
  /** Undefined: this process has not called the channel yet. */
  channelName: string | undefined
  breaker: Breaker
  probe: RunningCall | undefined
  /** Running calls whose answer has not begun. */
  unanswered: number
  /** The last time when a call was answered or ended, or when the first of those unanswered began. */
  quietSince: number
  claiming: boolean
  /** Do not claim again before this time. */
  claimAt: number
  /** Until this time this process may make the probe. */
  claimedUntil: number
  /** Postgres does not have the newest state of the breaker yet. */
  unsaved: boolean
  /** A statement that saves it is running. */
  saving: boolean
  /** A tick. */
  changedAt: number
}

interface RunningCall {
  /** `last resort`: the breaker was open and no other target was left. */
  kind: 'counted' | 'probe' | 'last resort'
  epoch: number
  begunAt: number
  /** Of the answer; undefined: it has not begun. */
  status: number | undefined
  hasEnded: boolean
}

function noteAnswer(state: State): void {
  state.unanswered--
  state.quietSince = performance.now()
}

/** The next probe of the channel needs a new claim. */
function forgetProbe(state: State): void {
  state.probe = undefined
  state.claimedUntil = 0
}

function mayProbe(state: State, now: number): boolean {
  const { openUntil } = state.breaker
  return openUntil !== undefined && openUntil <= now && state.probe === undefined && state.claimedUntil > now
}
