import type { GatewayError } from '../canonical/error.ts'
import type { Reason } from '../canonical/reasons/catalogue.ts'
import type { ErrorKind } from '../canonical/reasons/kinds.ts'
import type { Outcome, StreamEnd, Usage, UsageSource } from '../canonical/usage.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import type { CaptureMode } from '../redaction/redact.ts'

/**
 * The facts about a request that are known before anything is sent upstream. They are enough to write a row
 * if the process dies.
 */
export interface OpenRecord {
  /** A uuidv7, whose millisecond is the row's created_at. */
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
  /**
   * The user on whose behalf the client sends the request. Absent means null, also for the next two members.
   */
  endUser?: string | null
  /** The conversation or agent run to which the request belongs. */
  session?: string | null
  /** The client's own labels, in order and without duplicates. */
  tags?: readonly string[] | null
  /**
   * The account whose reservation is released when the row is shipped; null if there can be no reservation.
   */
  reservedAccountId: string | null
  capture: CaptureMode
  /**
   * The redacted body; null if none is kept. It must be read at once, because the caller can reuse the
   * memory.
   */
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
   * The number of images that were delivered, or only previewed by a job without a result. Absent unless the
   * request is for images.
   */
  images?: number | null
  streamEnd: StreamEnd | null
  /** The cost of the counts at their price, in nano-USD; null if unknown. */
  costNano: bigint | null
  /** What the account pays: where money is limited, at most the held amount. Absent: the cost. */
  chargedNano?: bigint | null
  /** The account that pays; null if nothing is charged. */
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
  /** The number of requests that the row represents. */
  folded: number
}

/** The error recorded in a row. */
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

/** What the account of a request pays, in nano-USD; null if unknown, in which case nothing is charged. */
export function chargeOf({
  chargedNano,
  costNano,
}: Pick<CloseRecord, 'chargedNano' | 'costNano'>): bigint | null {
  return chargedNano === undefined ? costNano : chargedNano
}

/** The cost, limited to the held amount. A nullish `heldNano` means that money is not limited. */
export function atMostHeld(costNano: bigint | null, heldNano: bigint | null | undefined): bigint | null {
  return costNano !== null && heldNano != null && costNano > heldNano ? heldNano : costNano
}

/**
 * Called for every row when it is written, with both of its halves. `job` means that the request was made by
 * a job.
 */
export type OnRow = (open: OpenRecord, close: CloseRecord, job?: 'job') => void

/** An upstream call made for a request, or a candidate that was passed over. */
export interface AttemptRecord {
  channel: string
  upstreamProtocol: ProtocolName | null
  upstreamModel: string | null
  /** Why it was called or passed over. */
  reason: string
  /** Whether it was passed over without being called. */
  passedOver: boolean
  status: number | null
  error: { kind: ErrorKind; message: string } | null
  firstByteMs: number | null
  totalMs: number | null
  upstreamRequestId: string | null
  /** The name of the credential that was used, a short hash. Absent: null. */
  credential?: string | null
}

/** The number of calls among the attempts, excluding candidates that were passed over. */
export function callsIn(attempts: readonly AttemptRecord[]): number {
  let calls = 0
  for (const { passedOver } of attempts) if (!passedOver) calls++
  return calls
}
