import type { ErrorKind } from '../canonical/error.ts'
import type { Outcome, StreamEnd, Usage, UsageSource } from '../canonical/usage.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import type { CaptureMode } from '../redaction/redact.ts'

/** What is known of a request before anything is sent upstream: enough for a row if the process dies now. */
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
  /** The user that the client asks for. Absent, as the next two, in what an older release kept of an image job. */
  endUser?: string | null
  /** The conversation, or an agent's run, that the request belongs to. */
  session?: string | null
  /** The client's own labels, in order and without repetition. */
  tags?: readonly string[] | null
  /** The account whose reservation must be released when the row is shipped; null where none can exist. */
  reservedAccountId: string | null
  capture: CaptureMode
  /** Redacted body; null when there is none to keep. Read at once: the caller may reuse the memory. */
  body: Buffer | null
}

/** The rest of the row, once the request has ended. */
export interface CloseRecord {
  upstreamProtocol: ProtocolName | null
  servedModel: string | null
  channel: string | null
  status: number
  outcome: Outcome
  error: { kind: ErrorKind; message: string; upstreamStatus: number | null } | null
  finishReason: string | null
  usage: Usage | null
  usageSource: UsageSource
  /** Images that were delivered; absent for what is no image request. */
  images?: number | null
  streamEnd: StreamEnd | null
  /** Nano-USD; null when not known. */
  costNano: bigint | null
  /** The account to charge; null: nothing is charged. */
  accountId: string | null
  priceId: string | null
  priceMultiplier: string | null
  queueMs: number | null
  firstTokenMs: number | null
  totalMs: number
  upstreamRequestId: string | null
  attempts: AttemptRecord[]
  /** JSON text, or null. */
  notes: string | null
  folded: number
}

/** One upstream call made, or one candidate passed over, for a request. */
export interface AttemptRecord {
  channel: string
  upstreamProtocol: ProtocolName | null
  upstreamModel: string | null
  /** Why it was chosen, or why it was not. */
  reason: string
  /** True: nothing was sent to it. */
  passedOver: boolean
  status: number | null
  error: { kind: ErrorKind; message: string } | null
  firstByteMs: number | null
  totalMs: number | null
  upstreamRequestId: string | null
}

/** How many of them are calls that were made: what a row counts. */
export function callsIn(attempts: readonly AttemptRecord[]): number {
  let calls = 0
  for (const { passedOver } of attempts) if (!passedOver) calls++
  return calls
}
