import type { Clock } from '../runtime/clock.ts'
import type { MoneyRefusal, PendingReservation } from './reservation.ts'

export interface ReservationQueueOptions {
  /** Ships the rows of requests that have ended, which releases their money. Never rejects. */
  ship(): Promise<unknown>
  /** Submits these requests to Postgres again, ahead of all others. */
  ask(turn: PendingReservation[]): void
  clock: Clock
}

/** The maximum number of waiting requests. Further ones are refused at once. */
const lengthMax = 2_000
/**
 * The maximum number of requests per source in a turn. Postgres would only grant further ones after these.
 */
const turnMax = 50
/**
 * The interval of retries, because requests of other processes and jobs of workers end without a
 * notification.
 */
const askAgainMs = 100

/**
 * Requests that wait for money held by running requests, in order of arrival. The queue retries when a
 * request of this process has ended and been shipped, and at least every 100 ms. A request that fits
 * overtakes one that does not, so no request waits while there is enough money for it.
 */
export class ReservationQueue {
  readonly #options: ReservationQueueOptions
  /** The waiting requests that are not part of a running transaction, in order of arrival. */
  #waiting: PendingReservation[] = []
  /** The owner of the source for which each request waits, including requests in a running transaction. */
  readonly #owners = new Map<PendingReservation, string>()
  /**
   * For each owner of a source: how many requests wait for it, and how much it had left at the last answer.
   */
  readonly #blocked = new Map<string, { count: number; leftNano: bigint }>()
  /** Requests that were submitted but whose account or budget is locked. */
  readonly #locked = new Set<PendingReservation>()
  #draining = false
  #woken = false
  #wake = () => {}

  constructor(options: ReservationQueueOptions) {
    this.#options = options
  }

  /**
   * Returns true if other requests already wait for a source that this one needs, in which case this one now
   * waits behind them.
   */
  tryJoinBehind(pending: PendingReservation): boolean {
    const owners = [pending.accountId, pending.keyId, pending.groupId]
    const owner = owners.find((id) => this.#blocked.has(id))
    if (owner === undefined || this.#owners.size >= lengthMax) return false
    // No need to wait, because Postgres can refuse it at once.
    if (owners.some((id) => this.#isTooMuch(pending, id))) return false
    // It is included in the next turn.
    this.#join(pending, owner)
    return true
  }

  /** Returns true if the request waits, and false if it is refused. */
  tryJoin(pending: PendingReservation, refusal: MoneyRefusal): boolean {
    const isOver = refusal.kind === 'insufficient' || this.#options.clock.now() >= pending.waitsUntil
    if (pending.shipped && isOver) return false
    if (!this.#owners.has(pending) && this.#owners.size >= lengthMax) return false
    // After `insufficient`, the queue retries once the rows are shipped. No other request has to wait behind
    // this one.
    const owner = refusal.kind === 'busy' ? ownerOf(pending, refusal) : undefined
    this.#join(pending, owner)
    const blocked = this.#blocked.get(owner ?? '')
    if (blocked !== undefined) blocked.leftNano = refusal.leftNano
    if (!pending.shipped) this.wake()
    return true
  }

  /**
   * Called when a submitted request waits for its locked account. Later requests of this account stay behind
   * it; those of other accounts continue.
   */
  setLocked(pending: PendingReservation): void {
    if (this.#owners.has(pending)) this.#locked.add(pending)
    pending.answered()
  }

  /** Removes a request from the queue. */
  leave(pending: PendingReservation): void {
    this.#unlock(pending)
    this.#block(pending, undefined)
    this.#owners.delete(pending)
    this.#waiting = this.#waiting.filter((other) => other !== pending)
  }

  /** Retries soon, because some money may have become free. */
  wake(): void {
    this.#woken = true
    this.#wake()
  }

  #unlock(pending: PendingReservation): void {
    if (this.#locked.delete(pending)) this.wake()
  }

  #join(pending: PendingReservation, owner: string | undefined): void {
    this.#unlock(pending)
    this.#block(pending, owner)
    const behind = this.#waiting.findLastIndex(({ place }) => place < pending.place)
    this.#waiting.splice(behind + 1, 0, pending)
    if (!this.#draining) void this.#drain()
  }

  #block(pending: PendingReservation, owner: string | undefined): void {
    const before = this.#owners.get(pending) ?? ''
    const blocked = this.#blocked.get(before)
    if (blocked !== undefined && --blocked.count === 0 && before !== owner) this.#blocked.delete(before)
    this.#owners.set(pending, owner ?? '')
    if (owner === undefined) return
    const now = this.#blocked.get(owner)
    if (now === undefined) this.#blocked.set(owner, { count: 1, leftNano: pending.amountNano })
    else now.count++
  }

  #isTooMuch({ amountNano }: PendingReservation, owner: string): boolean {
    const blocked = this.#blocked.get(owner)
    return blocked !== undefined && amountNano > blocked.leftNano
  }

  async #drain(): Promise<void> {
    this.#draining = true
    while (this.#waiting.length > 0) {
      this.#woken = false
      // A request that joins from now on may depend on rows that are not in this shipment.
      const shippable = [...this.#waiting]
      await this.#options.ship()
      for (const pending of shippable) pending.shipped = true
      const turn = this.#nextTurn()
      const waiting = new Set(turn)
      this.#waiting = this.#waiting.filter((pending) => !waiting.has(pending))
      if (turn.length > 0) {
        const answers = turn.map(answerOf)
        this.#options.ask(turn)
        await Promise.all(answers)
      }
      const granted = turn.some((pending) => !this.#owners.has(pending))
      if (!granted && !this.#woken && this.#waiting.length > 0) await this.#sleep()
    }
    this.#draining = false
  }

  /**
   * The first requests of each owner, and those that now get their final answer, because their time is up or
   * their source has too little left. Drops requests whose clients have left.
   */
  #nextTurn(): PendingReservation[] {
    const counts = new Map<string, number>()
    const now = this.#options.clock.now()
    const left = this.#waiting.filter((pending) => pending.hasLeft())
    for (const pending of left) {
      this.leave(pending)
      pending.settle({ kind: 'left' })
    }
    const lockedAccounts = new Set([...this.#locked].map(({ accountId }) => accountId))
    return this.#waiting.filter((pending) => {
      if (!pending.shipped || lockedAccounts.has(pending.accountId)) return false
      const owner = this.#owners.get(pending) ?? ''
      const count = counts.get(owner) ?? 0
      counts.set(owner, count + 1)
      return count < turnMax || owner === '' || now >= pending.waitsUntil || this.#isTooMuch(pending, owner)
    })
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, askAgainMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

function answerOf(pending: PendingReservation): Promise<void> {
  return new Promise((resolve) => {
    pending.answered = resolve
  })
}

function ownerOf({ accountId, keyId, groupId }: PendingReservation, { source }: MoneyRefusal): string {
  switch (source.owner) {
    case 'balance':
    case 'tenant':
      return accountId
    case 'key':
      return keyId
    case 'group':
      return groupId
  }
}
