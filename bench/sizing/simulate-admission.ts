import { Dice } from '../log-people.ts'
import { percentile } from '../percentile.ts'

/** How long a transaction has a tenant's account: for the first request of its batch, and for each further one. */
export interface AdmissionCosts {
  hold: { firstMs: number; furtherMs: number }
  settle: { firstMs: number; furtherMs: number }
}

export interface AdmissionWait {
  p50Ms: number
  p99Ms: number
  /** False: more requests came than the account can bear, and waits would grow without an end. */
  isStable: boolean
}

/** As `Reservations` has it. */
const batchMax = 1_000
/** SHIP_INTERVAL_MS: how often a process settles what has ended. */
const shipEveryMs = 500

/**
 * The requests of one tenant with limited money, which arrive at any of the processes by chance. A process asks for all of its
 * waiting requests in one transaction, one transaction at a time; each half second it settles the requests that it has let go.
 * The account is one lock, taken in the order of asking. The same costs give the same waits in each run.
 */
export function simulateAdmission(
  options: AdmissionCosts & { perSecond: number; processes: number; seconds: number },
): AdmissionWait {
  const { perSecond, processes, seconds, hold, settle } = options
  const dice = new Dice(20_261_126)
  const endMs = seconds * 1_000
  const members = Array.from({ length: processes }, (_, n) => ({
    waiting: [] as number[],
    isAsking: false,
    toSettle: 0,
    nextShipMs: ((n + 1) * shipEveryMs) / processes,
  }))
  const waits: number[] = []
  /** When the account is free again. The next request takes it from then on. */
  let freeMs = 0
  /** Batches that have the account, or a place before it: the moments of their ends, in order. */
  const ends: { atMs: number; member: (typeof members)[number]; batch: readonly number[] }[] = []
  const take = (nowMs: number, { firstMs, furtherMs }: AdmissionCosts['hold'], count: number) => {
    freeMs = Math.max(nowMs, freeMs) + firstMs + furtherMs * (count - 1)
    return freeMs
  }
  const ask = (member: (typeof members)[number], nowMs: number) => {
    const batch = member.waiting.splice(0, batchMax)
    member.isAsking = batch.length > 0
    if (member.isAsking) ends.push({ atMs: take(nowMs, hold, batch.length), member, batch })
  }

  let arrivalMs = 0
  while (arrivalMs < endMs) {
    arrivalMs += (-Math.log(1 - dice.next()) * 1_000) / perSecond
    // What happens before this arrival, in order.
    for (;;) {
      const end = ends[0]
      const ship = members.reduce((first, member) => (member.nextShipMs < first.nextShipMs ? member : first))
      if (end !== undefined && end.atMs <= arrivalMs && end.atMs <= ship.nextShipMs) {
        ends.shift()
        for (const arrived of end.batch) waits.push(end.atMs - arrived)
        end.member.toSettle += end.batch.length
        ask(end.member, end.atMs)
      } else if (ship.nextShipMs <= arrivalMs) {
        if (ship.toSettle > 0) take(ship.nextShipMs, settle, ship.toSettle)
        ship.toSettle = 0
        ship.nextShipMs += shipEveryMs
      } else break
    }
    const member = members[dice.below(processes)]
    if (member === undefined) throw new Error('There is no process.')
    member.waiting.push(arrivalMs)
    if (!member.isAsking) ask(member, arrivalMs)
  }
  const left = members.reduce((sum, { waiting }) => sum + waiting.length, 0)
  return {
    p50Ms: percentile(waits, 0.5),
    p99Ms: percentile(waits, 0.99),
    // As many as come in a second.
    isStable: left < perSecond && freeMs < endMs + 1_000,
  }
}
