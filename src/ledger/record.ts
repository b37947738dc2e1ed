import type { GatewayError } from '../canonical/error.ts'
import type { Reason } from '../canonical/reasons/catalogue.ts'
import type { ErrorKind } from '../canonical/reasons/kinds.ts'
import type { Outcome, StreamEnd, Usage, UsageSource } from '../canonical/usage.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import type { CaptureMode } from '../redaction/redact.ts'

/** The facts about a request before anything is sent upstream. They suffice for a row if the process dies. */
export interface OpenRecord {
  /** uuidv7; the millisecond inside it is the row's created_at. */
  id: string
  tenantId: string | null
  keyId: string | null
  groupId: string | null
  endpoint: string
  clientProtocol: ProtocolName | null
  requestedModel: string | null
  stream: boolean
  clientAddress: string | null
  userAgent: string | null
  idempotencyKey: string | null
  /** The user for whom the client asks. Absent, as the next two: null. */
  endUser?: string | null
  /** The conversation, or an agent's run, that the request belongs to. */
  session?: string | null
  /** The client's own labels, in order and without repetition. */
  tags?: readonly string[] | null
  /** The account whose reservation ends when the row is shipped; null: there can be no reservation. */
  reservedAccountId: string | null
  capture: CaptureMode
  /** The redacted body; null: none is kept. Read it at once: the caller may reuse the memory. */
  body: Buffer | null
}

/** The rest of the row, once the request has ended. */
export interface CloseRecord {
  upstreamProtocol: ProtocolName | null
  servedModel: string | null
  channel: string | null
  status: number
  outcome: Outcome
  error: RowError | null
  finishReason: string | null
  usage: Usage | null
  usageSource: UsageSource
  /**
   * Images that were delivered, or only previewed by a job without a result; absent unless the request is for
   * images.
   */
  images?: number | null
  streamEnd: StreamEnd | null
  /** What the counts cost at their price, in nano-USD; null: unknown. */
  costNano: bigint | null
  /** What its account pays: where money is limited, at most what was held. Absent: the cost. */
  chargedNano?: bigint | null
  /** The account that pays; null: nothing is charged. */
  accountId: string | null
  priceId: string | null
  priceMultiplier: string | null
  /** JSON text of `CostFact[]`. Absent: null. */
  costFacts?: string | null
  queueMs: number | null
  firstTokenMs: number | null
  totalMs: number
  upstreamRequestId: string | null
  attempts: AttemptRecord[]
  /** JSON text, or null. */
  notes: string | null
  /** Number of requests that the row represents. */
  folded: number
}

/** What a row says about an error. */
export interface RowError {
  kind: ErrorKind
  reason: Reason
  message: string
  upstreamStatus: number | null
}

export function rowErrorOf(error: GatewayError): RowError
export function rowErrorOf(error: GatewayError | null): RowError | null
export function rowErrorOf(error: GatewayError | null): RowError | null {
  if (error === null) return null
  const { kind, reason, message, upstreamStatus = null } = error
  return { kind, reason, message, upstreamStatus }
}

/** What the account of a request pays, in nano-USD; null: not known, so nothing. */
export function chargeOf({
  chargedNano,
  costNano,
}: Pick<CloseRecord, 'chargedNano' | 'costNano'>): bigint | null {
  return chargedNano === undefined ? costNano : chargedNano
}

/** The cost, but no more than was held. `heldNano` nullish: money is not limited. */
export function atMostHeld(costNano: bigint | null, heldNano: bigint | null | undefined): bigint | null {
  return costNano !== null && heldNano != null && costNano > heldNano ? heldNano : costNano
}

/** Called for every row where it is written, with both of its halves. `job`: a job has made the request. */
export type OnRow = (open: OpenRecord, close: CloseRecord, job?: 'job') => void

/** One upstream call made, or one candidate passed over, for a request. */
export interface AttemptRecord {
  channel: string
  upstreamProtocol: ProtocolName | null
  upstreamModel: string | null
  /** Why it was called, or passed over. */
  reason: string
  /** True: it was not called. */
  passedOver: boolean
  status: number | null
  error: { kind: ErrorKind; message: string } | null
  firstByteMs: number | null
  totalMs: number | null
  upstreamRequestId: string | null
  /** Name of the credential that was used, a short hash. Absent: null. */
  credential?: string | null
}

/** The number of calls among the attempts: candidates that were passed over do not count. */
export function callsIn(attempts: readonly AttemptRecord[]): number {
  let calls = 0
  for (const { passedOver } of attempts) if (!passedOver) calls++
  return calls
}
