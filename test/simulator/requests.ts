import { readFrame } from '../../src/journal/frame.ts'
import { lostEndpoint } from '../../src/journal/orphan.ts'
import type { JsonRow } from '../../src/journal/read-tuples.ts'
import { uuidText } from '../../src/journal/tuple.ts'
import type { Store } from './store.ts'

/** What is known about a request from outside. Times are milliseconds since the start of the world. */
export interface Request {
  id: string
  model: string
  outcome: string
  costNano: bigint
  pid: number
  /** From here on its bytes may be upstream. */
  sentAt: number | undefined
  /** Its client has its whole answer. */
  ackedAt: number | undefined
  /** Whatever has happened, it has a row. */
  mustHaveRow: boolean
  /** Whatever has happened, its row is that of its answer. */
  mustBeOwn: boolean
  /** The power failed, so its row may contain only its end. */
  mayLackBeginning: boolean
}

/** Something that never happens in a gateway without errors. */
export class Violation extends Error {
  override readonly name = 'Violation'
}

/** Checks the rows and charges that Postgres has against the requests: none is invented, doubled or altered. */
export function checkRows(requests: ReadonlyMap<string, Request>, store: Store, ids: Iterable<string>): void {
  for (const id of ids) {
    const request = requests.get(id)
    if (request === undefined) throw new Violation(`a row of a request that never was: ${id}`)
    const row = store.rows.get(id)
    if (row !== undefined) checkRow(request, row)
    const charge = store.charges.get(id)
    const expected = row?.outcome === request.outcome && request.costNano > 0n ? request.costNano : undefined
    if (charge !== expected)
      throw new Violation(`${id} (${row?.outcome}) is charged ${charge}, not ${expected}`)
  }
}

function checkRow({ id, model, outcome, costNano, mayLackBeginning }: Request, row: JsonRow): void {
  const isOrphan = row.outcome === 'orphaned'
  if (!isOrphan && row.outcome !== outcome)
    throw new Violation(`the row of ${id} says ${row.outcome}, not ${outcome}`)
  const cost = row.cost_nano === null ? 0n : BigInt(String(row.cost_nano))
  if (cost !== (isOrphan ? 0n : costNano))
    throw new Violation(`the row of ${id} costs ${cost}, not ${costNano}`)
  const isLost = row.endpoint === lostEndpoint
  if (isLost && !mayLackBeginning) throw new Violation(`the row of ${id} has lost its beginning`)
  if (!isLost && row.requested_model !== null && row.requested_model !== model)
    throw new Violation(`the row of ${id} is of ${row.requested_model}, not ${model}`)
}

/** Checks that each of these requests has the row that it must have. */
export function checkPromises(requests: Iterable<Request>, store: Store): void {
  for (const request of requests) {
    const outcome = store.rows.get(request.id)?.outcome
    if (outcome === undefined && (request.mustHaveRow || request.mustBeOwn))
      throw new Violation(`no row of ${about(request)}`)
    if (request.mustBeOwn && outcome !== request.outcome)
      throw new Violation(`the row of ${about(request)} is ${outcome}, although its client has its answer`)
  }
}

function about({ id, pid, sentAt, ackedAt }: Request): string {
  return `${id} of process ${pid}, sent at ${sentAt?.toFixed(1)}, answered at ${ackedAt?.toFixed(1)}`
}

/** The requests of the frames in a segment, up to the first bytes that are not a frame. */
export function requestsIn(bytes: Buffer): string[] {
  const ids: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const frame = readFrame(bytes, at)
    if (typeof frame === 'string') break
    ids.push(uuidText(bytes.subarray(frame.idAt, frame.idAt + 16)))
    at += frame.bytes
  }
  return ids
}
