import type { CloseFrame } from './frame.ts'
import { ownersIn, uuidText } from './tuple.ts'

/** What the requests of a batch cost together, by account, key, group and day (UTC). */
export type Charges = Map<string, Charge>

interface Charge {
  account: string
  key: string | null
  group: string | null
  /** A moment of the day. */
  moment: Date
  nano: bigint
}

/** Note what a request cost. A frame that charges nothing must be left out. */
export function addCharge(charges: Charges, { id, account, charge, requestTuple }: CloseFrame): void {
  const { key, group } = ownersIn(requestTuple)
  const ms = id.readUIntBE(0, 6)
  const owners = [account, key, group].map((owner) => owner?.toString('latin1') ?? '')
  const name = [Math.floor(ms / dayMs), ...owners].join(' ')
  const earlier = charges.get(name)
  if (earlier !== undefined) {
    earlier.nano += charge
    return
  }
  charges.set(name, {
    account: uuidText(account),
    key: key === undefined ? null : uuidText(key),
    group: group === undefined ? null : uuidText(group),
    moment: new Date(ms),
    nano: charge,
  })
}

const dayMs = 24 * 60 * 60 * 1000

/** The statement that releases reservations, and takes charges from accounts and budgets; undefined: there is nothing. */
export function settlementOf(
  released: readonly string[],
  charges: Charges,
): { text: string; values: unknown[] } | undefined {
  if (released.length === 0 && charges.size === 0) return undefined
  const list = [...charges.values()]
  return {
    text: 'SELECT settle_money($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::bigint[])',
    values: [
      released,
      list.map(({ account }) => account),
      list.map(({ key }) => key),
      list.map(({ group }) => group),
      list.map(({ moment }) => moment),
      list.map(({ nano }) => String(nano)),
    ],
  }
}
