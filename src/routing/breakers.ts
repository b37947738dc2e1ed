import { causeOf } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { Breaker, type BreakerBounds, openMsOf } from './breaker.ts'
import type { BreakerTable, SharedBreaker } from './breaker-table.ts'

export interface RoutingLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

export interface BreakersOptions {
  bounds: BreakerBounds
  table: BreakerTable
  database: Pick<Database, 'listen'>
  log: RoutingLog
  /** How often the table is read, whatever was notified. Default 1000. */
  sweepMs?: number
  /** A probe that has not answered for so long does not keep others from trying. Default 30000. */
  probeMsMax?: number
  chance?: () => number
}

/** What a call came to, for the breaker of its channel; `nothing` when its client left, or this process ends. */
export type Outcome = 'failure' | 'life' | 'nothing'

/** One call that is under way. What it came to first counts, and nothing that is told later. */
export interface Trial {
  /** `openMs`: the upstream itself said for how long it is not to be asked. */
  end(outcome: Outcome, reason: string, openMs?: number): void
}

/** How long a claimed probe waits for a request, and how long a running one outlives its process. */
const claimMs = 5_000
const probeMsMax = 30_000
/** Another process tries the channel: it is looked at again then, unless that is notified before. */
const heldMs = 500
/** What is known of a channel that nobody asks any more is forgotten. */
const unusedMs = 600_000

/**
 * Which channels fail, in this process and, by way of Postgres, in all of them. Nobody waits for Postgres: a breaker
 * opens here at once and is told in the background; the first request that would like a channel whose time has come has
 * its probe claimed, and goes elsewhere meanwhile. While Postgres is away, every process probes for itself.
 */
export class Breakers {
  readonly #options: BreakersOptions
  readonly #chance: () => number
  readonly #states = new Map<string, State>()
  readonly #timer: NodeJS.Timeout
  /** Counts reads and changes: what was read before a change is older than it. */
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
    // What a lost notification would have said is seen by the next sweep.
    this.#unlisten = options.database.listen('tollgate_breakers', { onNotify: read, onListening: read })
    this.#sweep()
  }

  /** Why others are to be asked before this channel; undefined: it may be asked. */
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

  /**
   * A call begins, whatever `whyNot` says. `hasAnswered`: whether it has brought something for its client yet, which is
   * enough to know of a long answer.
   */
  begin(channelId: string, channelName: string, hasAnswered: () => boolean = () => false): Trial {
    const state = this.#stateOf(channelId, channelName)
    const now = performance.now()
    state.breaker.usedAt = now
    const kind =
      state.breaker.openUntil === undefined ? 'counted' : mayProbe(state, now) ? 'probe' : 'last resort'
    const trial: Running = { kind, epoch: state.breaker.epoch, begunAt: now, hasAnswered, hasEnded: false }
    if (kind === 'probe') state.probe = trial
    return { end: (outcome, reason, openMs) => this.#end(channelId, state, trial, outcome, reason, openMs) }
  }

  async end(): Promise<void> {
    this.#ended = true
    clearInterval(this.#timer)
    await this.#unlisten()
  }

  #end(
    channelId: string,
    state: State,
    trial: Running,
    outcome: Outcome,
    reason: string,
    openMs: number | undefined,
  ): void {
    if (trial.hasEnded) return
    trial.hasEnded = true
    const { breaker } = state
    const isHeld = state.probe === trial
    if (isHeld) state.probe = undefined
    // It has been opened or closed since, or was open: this call decides nothing.
    if (trial.epoch !== breaker.epoch || trial.kind === 'last resort') return
    const now = performance.now()
    switch (outcome) {
      case 'nothing':
        // The next request may be the probe in its stead.
        if (isHeld) state.claimedUntil = now + claimMs
        return
      case 'life':
        if (trial.kind === 'probe') this.#close(channelId, state)
        else breaker.countLife(now)
        return
      case 'failure':
        if (trial.kind === 'probe' || openMs !== undefined || breaker.countFailure(this.#options.bounds, now))
          this.#open(channelId, state, reason, openMs)
    }
  }

  #open(channelId: string, state: State, reason: string, openMs: number | undefined): void {
    const { breaker, channelName } = state
    const openings = breaker.openings + 1
    const forMs = openMs ?? openMsOf(this.#options.bounds, openings, this.#chance)
    breaker.open(forMs, openings, reason, performance.now())
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
    state.untold = true
    if (!state.telling) void this.#tell(channelId, state)
  }

  /** One statement at a time for each channel: the newest state counts. The sweep repeats what could not be told. */
  async #tell(channelId: string, state: State): Promise<void> {
    const { table } = this.#options
    state.telling = true
    try {
      while (state.untold && !this.#ended) {
        state.untold = false
        const { openUntil, openings, reason } = state.breaker
        if (openUntil === undefined) await table.close(channelId)
        else await table.open(channelId, openings, Math.max(0, openUntil - performance.now()), reason)
      }
    } catch {
      state.untold = true
    }
    state.telling = false
    state.changedAt = ++this.#tick
  }

  #claim(channelId: string, state: State, now: number): void {
    if (state.probe !== undefined || state.claiming || now < state.claimAt) return
    // Nobody else knows that it is open.
    if (state.untold) {
      state.claimedUntil = now + claimMs
      return
    }
    if (state.telling) return
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
    // Postgres is away: each process tries for itself.
    this.#options.table.claimProbe(channelId, claimMs).then(decide, () => decide('claimed'))
  }

  #sweep(): void {
    const now = performance.now()
    for (const [channelId, state] of this.#states) {
      const { breaker, probe } = state
      if (state.untold && !state.telling) void this.#tell(channelId, state)
      if (probe !== undefined) this.#lookAfterProbe(channelId, state, probe)
      const isUnused = breaker.openUntil === undefined && !state.untold && breaker.usedAt < now - unusedMs
      if (isUnused) this.#states.delete(channelId)
    }
    this.#read()
  }

  #lookAfterProbe(channelId: string, state: State, probe: Running): void {
    if (probe.hasAnswered()) {
      this.#close(channelId, state)
      // What becomes of the rest of its answer counts like that of any other call.
      probe.kind = 'counted'
      probe.epoch = state.breaker.epoch
    } else if (performance.now() - probe.begunAt > (this.#options.probeMsMax ?? probeMsMax)) {
      // It still decides when it ends, unless another one has before.
      forgetProbe(state)
    } else this.#options.table.holdProbe(channelId, claimMs).catch(() => {})
  }

  /** Never two reads at once; called while one runs, it is repeated. */
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
        this.#take(await this.#options.table.read(), begunAt)
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

  #take(rows: readonly SharedBreaker[], begunAt: number): void {
    const now = performance.now()
    const open = new Set<string>()
    for (const { channelId, openings, leftMs, reason } of rows) {
      open.add(channelId)
      const state = this.#stateOf(channelId, undefined)
      const { breaker } = state
      if (state.untold || state.telling || state.changedAt > begunAt) continue
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
      if (state.untold || state.telling || state.changedAt > begunAt) continue
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
      claiming: false,
      claimAt: 0,
      claimedUntil: 0,
      untold: false,
      telling: false,
      changedAt: 0,
    }
    this.#states.set(channelId, state)
    return state
  }
}

interface State {
  /** Undefined while this process has not asked it yet. */
  channelName: string | undefined
  breaker: Breaker
  probe: Running | undefined
  claiming: boolean
  /** Not claimed again before. */
  claimAt: number
  /** A probe is this process's to make until then. */
  claimedUntil: number
  /** Postgres does not know yet what the breaker is. */
  untold: boolean
  telling: boolean
  changedAt: number
}

interface Running {
  /** `last resort`: the channel was open and nobody else was left to ask. */
  kind: 'counted' | 'probe' | 'last resort'
  epoch: number
  begunAt: number
  hasAnswered: () => boolean
  hasEnded: boolean
}

/** Whoever tries the channel next has to claim it. */
function forgetProbe(state: State): void {
  state.probe = undefined
  state.claimedUntil = 0
}

function mayProbe(state: State, now: number): boolean {
  const { openUntil } = state.breaker
  return openUntil !== undefined && openUntil <= now && state.probe === undefined && state.claimedUntil > now
}
