import type { PendingReservation, Refusal } from './reservation.ts'

export interface ReservationQueueOptions {
  /** Ship the rows of requests that have ended, which releases their money. Never rejects. */
  ship(): Promise<unknown>
  /** Ask Postgres for these again, before all others. */
  ask(turn: PendingReservation[]): void
}

/** When so many wait, further requests are refused at once. */
const lengthMax = 2_000
/** Requests asked for at a time of those that wait for one source: the others would not be granted before them. */
const turnMax = 50
/** Nobody tells us of requests that end in other processes, or of jobs that end in workers: ask again after this. */
const askAgainMs = 100

/**
 * Requests that wait for money that running requests hold, in the order of arrival. Postgres is asked again when a
 * request of this process has ended and is shipped, else every 100 ms. A request that fits goes before one that does
 * not: nobody waits for money that is free.
 */
export class ReservationQueue {
  readonly #options: ReservationQueueOptions
  /** The requests that no running transaction asks for, in the order of arrival. */
  #waiting: PendingReservation[] = []
  /** The owner of the source that each request waits for, also while a transaction asks for it. */
  readonly #owners = new Map<PendingReservation, string>()
  /** How many wait for a source of this owner, and what was left of it at the last answer. */
  readonly #blocked = new Map<string, { count: number; leftNano: bigint }>()
  #draining = false
  #woken = false
  #wake = () => {}

  constructor(options: ReservationQueueOptions) {
    this.#options = options
  }

  /** True: others wait for a source that this request needs too, and now it waits behind them. */
  tryJoinBehind(pending: PendingReservation): boolean {
    const owners = [pending.accountId, pending.keyId, pending.groupId]
    const owner = owners.find((id) => this.#blocked.has(id))
    if (owner === undefined || this.#owners.size >= lengthMax) return false
    // Postgres can refuse it at once.
    if (owners.some((id) => this.#isTooMuch(pending, id))) return false
    // The next turn asks for it.
    this.#join(pending, owner)
    return true
  }

  /** True: the request waits. False: it is refused. */
  tryJoin(pending: PendingReservation, refusal: Refusal): boolean {
    if (pending.shipped && (refusal.kind === 'insufficient' || Date.now() >= pending.waitsUntil)) return false
    if (!this.#owners.has(pending) && this.#owners.size >= lengthMax) return false
    // An `insufficient` is asked again once the rows are shipped, and nobody has to wait behind it.
    const owner = refusal.kind === 'busy' ? ownerOf(pending, refusal) : undefined
    this.#join(pending, owner)
    const blocked = this.#blocked.get(owner ?? '')
    if (blocked !== undefined) blocked.leftNano = refusal.leftNano
    if (!pending.shipped) this.wake()
    return true
  }

  /** The request waits no more. */
  leave(pending: PendingReservation): void {
    this.#block(pending, undefined)
    this.#owners.delete(pending)
    this.#waiting = this.#waiting.filter((other) => other !== pending)
  }

  /** Some money may be free now. */
  wake(): void {
    this.#woken = true
    this.#wake()
  }

  #join(pending: PendingReservation, owner: string | undefined): void {
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
      // A request that joins from now on may need rows that are not in this shipment.
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
   * The first requests of each owner, and those that get their last answer: their time is up, or too little is left for
   * them. Requests whose clients have left are dropped.
   */
  #nextTurn(): PendingReservation[] {
    const counts = new Map<string, number>()
    const now = Date.now()
    const left = this.#waiting.filter((pending) => pending.hasLeft())
    for (const pending of left) {
      this.leave(pending)
      pending.settle({ kind: 'left' })
    }
    return this.#waiting.filter((pending) => {
      if (!pending.shipped) return false
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

function ownerOf({ accountId, keyId, groupId }: PendingReservation, { source }: Refusal): string {
  switch (source.owner) {
    case 'balance':
      return accountId
    case 'key':
      return keyId
    case 'group':
      return groupId
  }
}
