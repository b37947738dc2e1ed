import type { Sql } from 'postgres'
import { gatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Instance } from '../shipping/instances.ts'
import { budgetSourceOf } from './budgets.ts'
import type { PendingReservation, ReservationRequest, ReservationResult } from './reservation.ts'
import { ReservationQueue } from './reservation-queue.ts'

export interface ReservationOptions {
  database: Pick<Database, 'money'>
  instance: Readonly<Instance>
  /** The maximum time for an answer from Postgres. */
  waitMs: number
  /** How long a request waits for money held by running requests. */
  moneyWaitMs: number
  /** The number of accounts for whose locks this process waits at once, each on its own connection. */
  lanesMax: number
  /** Ships the rows of requests that have ended, which releases their money. Never rejects. */
  ship(): Promise<unknown>
  clock: Clock
}

/** The maximum number of requests in one transaction. The others wait for the next one. */
const batchMax = 1_000

/** The interval of retries for a locked account if all lanes are in use. */
const lockedAgainMs = 20

/** More than any account or budget can have, but small enough for Postgres to add up such amounts. */
const nanoMax = 10n ** 18n + 1n

/**
 * Admits requests whose money is limited. All requests that arrive while a transaction commits are handled by
 * the next one (group commit, without a timer). A request only waits for its own transaction. A grant is
 * durable.
 * A common batch does not wait for locks. If another transaction has locked a budget or an account, as a
 * shipment does until its commit, the requests of this account move to a lane: batches of this account only,
 * which wait for the lock.
 */
export class Reservations {
  readonly #options: ReservationOptions
  readonly #queue: ReservationQueue
  #waiting: PendingReservation[] = []
  #running = false
  #arrivals = 0
  /** By account: the requests in the next batch of its lane. */
  readonly #lanes = new Map<string, PendingReservation[]>()

  constructor(options: ReservationOptions) {
    this.#options = options
    this.#queue = new ReservationQueue({
      ship: options.ship,
      ask: (turn) => this.#enqueue(turn, 'front'),
      clock: options.clock,
    })
  }

  /**
   * Holds money for a request in its account, if that is limited, and in all budgets of its key, group and
   * tenant: in all of them or in none. If the money is held for running requests, the request waits for them
   * to end, in order of arrival. Rejects with `unavailable` if Postgres does not answer in time. The
   * reservation may exist nevertheless, so the request's row must name the account as reserved.
   */
  hold(request: ReservationRequest): Promise<ReservationResult> {
    const { moneyWaitMs, clock } = this.#options
    return new Promise((resolve, reject) => {
      const pending: PendingReservation = {
        ...request,
        place: this.#arrivals++,
        waitsUntil: clock.now() + moneyWaitMs,
        shipped: false,
        abandoned: false,
        settle: resolve,
        reject,
        answered: () => {},
        stopTimeout: () => {},
      }
      if (!this.#queue.tryJoinBehind(pending)) this.#enqueue([pending], 'back')
    })
  }

  /**
   * Called when a request of this process that held money has ended and its row is written. Waiting requests
   * may get the money.
   */
  ended(): void {
    this.#queue.wake()
  }

  #enqueue(batch: PendingReservation[], where: 'front' | 'back'): void {
    for (const pending of batch) this.#startTimeout(pending)
    const common = batch.filter((pending) => !this.#tryJoinLane(pending))
    if (where === 'front') this.#waiting.unshift(...common)
    else this.#waiting.push(...common)
    this.#start()
  }

  #start(): void {
    if (!this.#running && this.#waiting.length > 0) void this.#run()
  }

  #startTimeout(pending: PendingReservation): void {
    const late = setTimeout(() => {
      pending.abandoned = true
      this.#queue.leave(pending)
      pending.reject(
        gatewayError('database_away', { message: noAnswer.unavailable }, { retryAfterSeconds: 2 }),
      )
    }, this.#options.waitMs)
    pending.stopTimeout = () => clearTimeout(late)
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#waiting.length > 0) await this.#runBatch(this.#waiting.splice(0, batchMax), 'skip')
    this.#running = false
  }

  async #runLane(accountId: string, lane: PendingReservation[]): Promise<void> {
    while (lane.length > 0) await this.#runBatch(lane.splice(0, batchMax), 'wait')
    this.#lanes.delete(accountId)
  }

  /** Never rejects. */
  async #runBatch(taken: PendingReservation[], locked: 'wait' | 'skip'): Promise<void> {
    // Read now, because a request that keeps waiting may get new callbacks before this batch ends.
    const ends = new Map(taken.map((pending) => [pending, endOf(pending)]))
    const batch = taken.filter((pending) => !pending.abandoned)
    try {
      const verdicts: Verdicts = batch.length === 0 ? new Map() : await this.#ask(batch, locked)
      for (const pending of batch) {
        if (pending.abandoned) continue
        if (verdicts.get(pending.requestId) !== 'locked') this.#decide(pending, verdicts)
        else {
          // Its timeout keeps running.
          ends.delete(pending)
          this.#divert(pending)
        }
      }
      void this.#giveBack(batch.filter((pending) => pending.abandoned && isGranted(pending, verdicts)))
    } catch (error) {
      for (const pending of batch) {
        this.#queue.leave(pending)
        pending.reject(error)
      }
    }
    for (const { stopTimeout, answered } of ends.values()) {
      stopTimeout()
      answered()
    }
  }

  /** Waits for a locked account or budget separately from all other requests. */
  #divert(pending: PendingReservation): void {
    if (this.#tryJoinLane(pending)) return
    const { accountId } = pending
    this.#queue.setLocked(pending)
    if (this.#lanes.size < this.#options.lanesMax) {
      const lane = [pending]
      this.#lanes.set(accountId, lane)
      // A batch diverts all requests of an account before the lane takes its first ones.
      queueMicrotask(() => void this.#runLane(accountId, lane))
      return
    }
    setTimeout(() => {
      if (pending.abandoned) return
      if (!this.#tryJoinLane(pending)) this.#waiting.push(pending)
      this.#start()
    }, lockedAgainMs)
  }

  #tryJoinLane(pending: PendingReservation): boolean {
    const lane = this.#lanes.get(pending.accountId)
    if (lane === undefined) return false
    this.#queue.setLocked(pending)
    const behind = lane.findLastIndex(({ place }) => place < pending.place)
    lane.splice(behind + 1, 0, pending)
    return true
  }

  #decide(pending: PendingReservation, verdicts: Verdicts): void {
    const verdict = verdicts.get(pending.requestId)
    if (verdict === undefined || verdict === 'locked')
      throw new Error(`try_reserve_money returned no verdict for ${pending.requestId}`)
    if ((verdict.kind === 'busy' || verdict.kind === 'insufficient') && this.#queue.tryJoin(pending, verdict))
      return
    this.#queue.leave(pending)
    pending.settle(verdict)
  }

  /** Never rejects: sweep_reservations releases the rest, once the requests have their rows. */
  async #giveBack(batch: PendingReservation[]): Promise<void> {
    if (batch.length === 0) return
    const { database, waitMs } = this.#options
    const ids = batch.map(({ requestId }) => requestId)
    await database.money
      .ask(({ sql }) => sql`SELECT release_reservations(${ids}::uuid[])`, { withinMs: waitMs })
      .catch(() => {})
  }

  /**
   * Rejects if the answer is late. If it still arrives, no request is waiting for it, so its grants are
   * returned.
   */
  async #ask(batch: PendingReservation[], locked: 'wait' | 'skip'): Promise<Verdicts> {
    const { database, waitMs } = this.#options
    let asking: Promise<Verdicts> | undefined
    try {
      return await database.money.ask(
        ({ sql }) => {
          asking = this.#reserve(sql, batch, locked)
          return asking
        },
        { ...noAnswer, withinMs: waitMs },
      )
    } catch (cause) {
      asking
        ?.then((verdicts) => this.#giveBack(batch.filter((pending) => isGranted(pending, verdicts))))
        .catch(() => {})
      throw cause
    }
  }

  async #reserve(sql: Sql, batch: PendingReservation[], locked: 'wait' | 'skip'): Promise<Verdicts> {
    const rows = await sql<VerdictRow[]>`
      SELECT request, verdict, pot, left_nano, free_nano FROM try_reserve_money(
        ${this.#options.instance.id}::uuid,
        ${batch.map(({ requestId }) => requestId)}::uuid[],
        ${batch.map(({ accountId }) => accountId)}::uuid[],
        ${batch.map(({ keyId }) => keyId)}::uuid[],
        ${batch.map(({ groupId }) => groupId)}::uuid[],
        ${batch.map(({ amountNano }) => String(amountNano < nanoMax ? amountNano : nanoMax))}::bigint[],
        ${locked === 'wait'}::boolean
      )`
    return new Map(rows.map((row) => [row.request, verdictOf(row)]))
  }
}

/** By request. `locked` means that another transaction has locked its account or a budget. */
type Verdicts = Map<string, ReservationResult | 'locked'>

interface VerdictRow {
  request: string
  verdict: 'locked' | 'granted' | 'busy' | 'insufficient'
  pot: string | null
  left_nano: string | null
  free_nano: string | null
}

function verdictOf({ verdict, pot, left_nano, free_nano }: VerdictRow): ReservationResult | 'locked' {
  if (verdict === 'locked') return verdict
  if (verdict === 'granted') return { kind: verdict }
  return {
    kind: verdict,
    source: budgetSourceOf(pot ?? ''),
    leftNano: BigInt(left_nano ?? 0),
    freeNano: BigInt(free_nano ?? 0),
  }
}

function endOf({ answered, stopTimeout }: PendingReservation) {
  return { answered, stopTimeout }
}

function isGranted({ requestId }: PendingReservation, verdicts: Verdicts): boolean {
  const verdict = verdicts.get(requestId)
  return verdict !== undefined && verdict !== 'locked' && verdict.kind === 'granted'
}

const noAnswer = {
  unavailable:
    'This key has a spending limit and the database that guards it is not responding. Try again shortly.',
  retryAfterSeconds: 2,
}
