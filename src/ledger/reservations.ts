import type { Sql } from 'postgres'
import { GatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { type Pot, potOf } from './budgets.ts'
import { MoneyLine } from './money-line.ts'

/** Money that a request may cost, to be held before it is sent. */
export interface Wish {
  requestId: string
  accountId: string
  keyId: string
  groupId: string
  amountNano: bigint
  /** Its client has left: it need not wait for money any more. */
  gone(): boolean
}

export type Verdict =
  | { kind: 'granted' }
  /** Its client left while it waited. Nothing is held. */
  | { kind: 'left' }
  | Refusal

/**
 * `busy`: running requests held the money for as long as it could be waited for. `insufficient`: without them there
 * would not be enough either.
 */
export interface Refusal {
  kind: 'busy' | 'insufficient'
  /** The one that is fullest. */
  pot: Pot
  /** Nano-USD that nothing was spent of yet. */
  leftNano: bigint
  /** The part of it that no running request holds. Either is below 0 when more was spent than the pot has. */
  freeNano: bigint
}

/** A wish on its way. */
export interface Pending extends Wish {
  /** In the order of arrival. */
  readonly place: number
  /** Milliseconds since the epoch: how long it waits for money that running requests hold. */
  readonly waitsUntil: number
  /** Asked for after what had ended by then was shipped: what is not free now is held by what runs. */
  shipped: boolean
  /** The request has given up waiting: what is granted to it now must be given back. */
  abandoned: boolean
  settle(verdict: Verdict): void
  refuse(error: unknown): void
  /** Called when one transaction has decided, whatever it said. */
  answered: () => void
}

export interface ReservationOptions {
  database: Pick<Database, 'money'>
  instanceId: string
  /** How long Postgres may take to answer. */
  waitMs: number
  /** How long a request waits for money that running requests hold. */
  moneyWaitMs: number
  /** Ship what has ended, so that it holds nothing any more. Never rejects. */
  ship(): Promise<unknown>
}

/** Most reservations asked for in one transaction; the rest wait for the next. */
const batchMax = 1_000

/** More than any account or budget can have, and little enough that Postgres can add it up. */
const nanoMax = 10n ** 18n + 1n

/**
 * Admission of requests whose money is limited. All that arrived while the last transaction was committing go
 * into the next one (group commit, no timer); each waits only for its own. What is granted is durable.
 */
export class Reservations {
  readonly #options: ReservationOptions
  readonly #line: MoneyLine
  #waiting: Pending[] = []
  #running = false
  #arrivals = 0

  constructor(options: ReservationOptions) {
    this.#options = options
    this.#line = new MoneyLine({ ship: options.ship, ask: (turn) => this.#enqueue(turn, 'front') })
  }

  /**
   * Hold money for a request in its account, where that is limited, and in all budgets of its key and group, or in none.
   * Where running requests hold what is there, it waits for them to end, in the order of arrival.
   * Rejects `unavailable` when Postgres does not answer in time: the reservation may then exist all the same, so the
   * request's row must be written with its account as reserved.
   */
  hold(wish: Wish): Promise<Verdict> {
    const { moneyWaitMs } = this.#options
    return new Promise((resolve, reject) => {
      const pending: Pending = {
        ...wish,
        place: this.#arrivals++,
        waitsUntil: Date.now() + moneyWaitMs,
        shipped: false,
        abandoned: false,
        settle: resolve,
        refuse: reject,
        answered: () => {},
      }
      if (!this.#line.takesBehind(pending)) this.#enqueue([pending], 'back')
    })
  }

  /** A request of this process that held money has its row: whoever waits for money can be asked for again. */
  ended(): void {
    this.#line.wake()
  }

  #enqueue(batch: Pending[], where: 'front' | 'back'): void {
    for (const pending of batch) this.#limitTime(pending)
    if (where === 'front') this.#waiting.unshift(...batch)
    else this.#waiting.push(...batch)
    if (!this.#running) void this.#run()
  }

  #limitTime(pending: Pending): void {
    const { answered } = pending
    const late = setTimeout(() => {
      pending.abandoned = true
      this.#line.leave(pending)
      pending.refuse(new GatewayError('unavailable', away.unavailable, { retryAfterSeconds: 2 }))
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
      // Those of this asking: who waits on may be asked again before it is over.
      const answers = taken.map(({ answered }) => answered)
      const batch = taken.filter((pending) => !pending.abandoned)
      try {
        const verdicts = batch.length === 0 ? new Map<string, Verdict>() : await this.#ask(batch)
        for (const pending of batch) if (!pending.abandoned) this.#decide(pending, verdicts)
        void this.#giveBack(batch.filter((pending) => pending.abandoned && isGranted(pending, verdicts)))
      } catch (error) {
        for (const pending of batch) {
          this.#line.leave(pending)
          pending.refuse(error)
        }
      }
      for (const answered of answers) answered()
    }
    this.#running = false
  }

  #decide(pending: Pending, verdicts: Map<string, Verdict>): void {
    const verdict = verdicts.get(pending.requestId)
    if (verdict === undefined) throw new Error(`reserve_money did not answer for ${pending.requestId}`)
    if ((verdict.kind === 'busy' || verdict.kind === 'insufficient') && this.#line.takes(pending, verdict))
      return
    this.#line.leave(pending)
    pending.settle(verdict)
  }

  /** Never rejects: what could not be given back is released once its request has its row (sweep_reservations). */
  async #giveBack(batch: Pending[]): Promise<void> {
    if (batch.length === 0) return
    const { database, waitMs } = this.#options
    const ids = batch.map(({ requestId }) => requestId)
    await database.money
      .ask(({ sql }) => sql`SELECT release_reservations(${ids}::uuid[])`, { withinMs: waitMs })
      .catch(() => {})
  }

  /** Rejects when the answer is late. When it comes all the same, nobody waits for it: its grants are given back. */
  async #ask(batch: Pending[]): Promise<Map<string, Verdict>> {
    const { database, waitMs } = this.#options
    let asking: Promise<Map<string, Verdict>> | undefined
    try {
      return await database.money.ask(
        ({ sql }) => {
          asking = this.#reserve(sql, batch)
          return asking
        },
        { ...away, withinMs: waitMs },
      )
    } catch (cause) {
      asking
        ?.then((verdicts) => this.#giveBack(batch.filter((pending) => isGranted(pending, verdicts))))
        .catch(() => {})
      throw cause
    }
  }

  async #reserve(sql: Sql, batch: Pending[]): Promise<Map<string, Verdict>> {
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
    pot: potOf(pot ?? ''),
    leftNano: BigInt(left_nano ?? 0),
    freeNano: BigInt(free_nano ?? 0),
  }
}

function isGranted({ requestId }: Pending, verdicts: Map<string, Verdict>): boolean {
  return verdicts.get(requestId)?.kind === 'granted'
}

const away = {
  unavailable:
    'This key has a spending limit and the database that guards it does not answer. Try again shortly.',
  retryAfterSeconds: 2,
}
