import type { Sql } from 'postgres'
import { GatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { budgetSourceOf } from './budgets.ts'
import type { PendingReservation, ReservationRequest, Verdict } from './reservation.ts'
import { ReservationQueue } from './reservation-queue.ts'

export interface ReservationOptions {
  database: Pick<Database, 'money'>
  instanceId: string
  /** How long Postgres may take to answer. */
  waitMs: number
  /** How long a request waits for money that running requests hold. */
  moneyWaitMs: number
  /** Ship the rows of requests that have ended, which releases their money. Never rejects. */
  ship(): Promise<unknown>
}

/** The most requests in one transaction. The others wait for the next one. */
const batchMax = 1_000

/** More than any account or budget has, and small enough for Postgres to add up such amounts. */
const nanoMax = 10n ** 18n + 1n

/**
 * Admits requests whose money is limited. All requests that arrive while a transaction commits go into the next one (group
 * commit, without a timer). A request waits only for its own transaction. A grant is durable.
 */
export class Reservations {
  readonly #options: ReservationOptions
  readonly #queue: ReservationQueue
  #waiting: PendingReservation[] = []
  #running = false
  #arrivals = 0

  constructor(options: ReservationOptions) {
    this.#options = options
    this.#queue = new ReservationQueue({ ship: options.ship, ask: (turn) => this.#enqueue(turn, 'front') })
  }

  /**
   * Hold money for a request in its account, if that is limited, and in all budgets of its key and group: in all of them or
   * in none. When running requests hold the money, the request waits for them to end, in the order of arrival.
   * Rejects `unavailable` when Postgres does not answer in time. The reservation may exist then, so the request's row must
   * name the account as reserved.
   */
  hold(request: ReservationRequest): Promise<Verdict> {
    const { moneyWaitMs } = this.#options
    return new Promise((resolve, reject) => {
      const pending: PendingReservation = {
        ...request,
        place: this.#arrivals++,
        waitsUntil: Date.now() + moneyWaitMs,
        shipped: false,
        abandoned: false,
        settle: resolve,
        reject,
        answered: () => {},
      }
      if (!this.#queue.tryJoinBehind(pending)) this.#enqueue([pending], 'back')
    })
  }

  /** A request of this process that held money has ended, and has its row. Waiting requests may get the money. */
  ended(): void {
    this.#queue.wake()
  }

  #enqueue(batch: PendingReservation[], where: 'front' | 'back'): void {
    for (const pending of batch) this.#startTimeout(pending)
    if (where === 'front') this.#waiting.unshift(...batch)
    else this.#waiting.push(...batch)
    if (!this.#running) void this.#run()
  }

  #startTimeout(pending: PendingReservation): void {
    const { answered } = pending
    const late = setTimeout(() => {
      pending.abandoned = true
      this.#queue.leave(pending)
      pending.reject(new GatewayError('unavailable', noAnswer.unavailable, { retryAfterSeconds: 2 }))
    }, this.#options.waitMs)
    pending.answered = () => {
      clearTimeout(late)
      answered()
    }
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#waiting.length > 0) {
      const taken = this.#waiting.splice(0, batchMax)
      // Read them now: a request that goes on waiting may get another `answered` before this loop ends.
      const answers = taken.map(({ answered }) => answered)
      const batch = taken.filter((pending) => !pending.abandoned)
      try {
        const verdicts = batch.length === 0 ? new Map<string, Verdict>() : await this.#ask(batch)
        for (const pending of batch) if (!pending.abandoned) this.#decide(pending, verdicts)
        void this.#giveBack(batch.filter((pending) => pending.abandoned && isGranted(pending, verdicts)))
      } catch (error) {
        for (const pending of batch) {
          this.#queue.leave(pending)
          pending.reject(error)
        }
      }
      for (const answered of answers) answered()
    }
    this.#running = false
  }

  #decide(pending: PendingReservation, verdicts: Map<string, Verdict>): void {
    const verdict = verdicts.get(pending.requestId)
    if (verdict === undefined) throw new Error(`reserve_money did not answer for ${pending.requestId}`)
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

  /** Rejects when the answer is late. If it comes later, no request waits for it: we give its grants back. */
  async #ask(batch: PendingReservation[]): Promise<Map<string, Verdict>> {
    const { database, waitMs } = this.#options
    let asking: Promise<Map<string, Verdict>> | undefined
    try {
      return await database.money.ask(
        ({ sql }) => {
          asking = this.#reserve(sql, batch)
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

  async #reserve(sql: Sql, batch: PendingReservation[]): Promise<Map<string, Verdict>> {
    const rows = await sql<VerdictRow[]>`
      SELECT request, verdict, pot, left_nano, free_nano FROM reserve_money(
        ${this.#options.instanceId}::uuid,
        ${batch.map(({ requestId }) => requestId)}::uuid[],
        ${batch.map(({ accountId }) => accountId)}::uuid[],
        ${batch.map(({ keyId }) => keyId)}::uuid[],
        ${batch.map(({ groupId }) => groupId)}::uuid[],
        ${batch.map(({ amountNano }) => String(amountNano < nanoMax ? amountNano : nanoMax))}::bigint[]
      )`
    return new Map(rows.map((row) => [row.request, verdictOf(row)]))
  }
}

interface VerdictRow {
  request: string
  verdict: 'granted' | 'busy' | 'insufficient'
  pot: string | null
  left_nano: string | null
  free_nano: string | null
}

function verdictOf({ verdict, pot, left_nano, free_nano }: VerdictRow): Verdict {
  if (verdict === 'granted') return { kind: verdict }
  return {
    kind: verdict,
    source: budgetSourceOf(pot ?? ''),
    leftNano: BigInt(left_nano ?? 0),
    freeNano: BigInt(free_nano ?? 0),
  }
}

function isGranted({ requestId }: PendingReservation, verdicts: Map<string, Verdict>): boolean {
  return verdicts.get(requestId)?.kind === 'granted'
}

const noAnswer = {
  unavailable:
    'This key has a spending limit and the database that guards it does not answer. Try again shortly.',
  retryAfterSeconds: 2,
}
