import { endOfColumn, momentIn, uuidText } from './tuple.ts'

/** The cost of a batch of requests, summed by account, key, group and day (UTC). */
export type Charges = Map<string, Charge>

interface Charge {
  account: string
  key: string | null
  group: string | null
  /** Any time within the day. */
  moment: Date
  nano: bigint
}

/** The cost of a request, and where the ids of its owners are in its frame and its row. */
export interface ChargePlaces {
  bytes: Buffer
  /** Start of the request's id in `bytes`. */
  idAt: number
  /** Start of the account's id in `bytes`. */
  accountAt: number
  nano: bigint
  /** The buffer that contains the row. */
  source: Buffer
  /** Start of the key's column in `source`. The group's column follows it. */
  keyAt: number
}

/** Adds the cost of a request. */
export function addCharge(
  charges: Charges,
  { bytes, idAt, accountAt, nano, source, keyAt }: ChargePlaces,
): void {
  const ms = momentIn(bytes, idAt)
  const groupAt = endOfColumn(source, keyAt)
  const owners = source.toString('latin1', keyAt, endOfColumn(source, groupAt))
  const name = `${Math.floor(ms / dayMs)} ${bytes.toString('latin1', accountAt, accountAt + 16)} ${owners}`
  const earlier = charges.get(name)
  if (earlier !== undefined) {
    earlier.nano += nano
    return
  }
  charges.set(name, {
    account: uuidText(bytes.subarray(accountAt, accountAt + 16)),
    key: uuidIn(source, keyAt),
    group: uuidIn(source, groupAt),
    moment: new Date(ms),
    nano,
  })
}

function uuidIn(bytes: Buffer, at: number): string | null {
  return bytes.readInt32BE(at) < 0 ? null : uuidText(bytes.subarray(at + 4, at + 20))
}

const dayMs = 24 * 60 * 60 * 1000

/**
 * The statement that releases reservations and deducts charges from accounts and budgets; empty if there is
 * nothing to do. Its values are uuids, times and numbers, so they need no quoting.
 */
export function settlementOf(released: readonly string[], charges: Charges): string[] {
  if (released.length === 0 && charges.size === 0) return []
  const list = [...charges.values()]
  const arrays = [
    arrayOf('uuid', released),
    arrayOf(
      'uuid',
      list.map(({ account }) => account),
    ),
    arrayOf(
      'uuid',
      list.map(({ key }) => key),
    ),
    arrayOf(
      'uuid',
      list.map(({ group }) => group),
    ),
    arrayOf(
      'timestamptz',
      list.map(({ moment }) => moment.toISOString()),
    ),
    arrayOf(
      'bigint',
      list.map(({ nano }) => nano),
    ),
  ]
  return [`SELECT settle_money(${arrays.join(', ')})`]
}

function arrayOf(type: string, values: readonly (string | bigint | null)[]): string {
  return `'{${values.map((value) => value ?? 'NULL').join(',')}}'::${type}[]`
}
