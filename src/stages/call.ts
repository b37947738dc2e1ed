import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Identity } from '../access/identity.ts'
import type { TranslationNote } from '../canonical/chat.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import type { Outcome, StreamEnd } from '../canonical/usage.ts'
import type { Group, Model } from '../catalog/snapshot.ts'
import type { AttemptRecord, CloseRecord, OpenRecord } from '../ledger/record.ts'
import type { Lease } from '../limits/limits.ts'
import type { ClientSide, Observation, ProtocolName, RequestFacts } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import type { Candidate } from '../routing/candidates.ts'
import type { Passed } from '../routing/targets.ts'
import type { UpstreamCall } from '../upstream/upstreams.ts'
import type { Claim } from './idempotency-claim.ts'
import { type Metered, nothingMetered } from './meter.ts'

/** One public path and the protocol its clients speak. */
export interface Endpoint {
  path: string
  protocol: ProtocolName
  client: ClientSide
}

/** What a request brought so far. Filled in the order of its journey; null is "not got there". */
export interface Call {
  /** uuidv7; the client's x-request-id. */
  readonly id: string
  readonly endpoint: Endpoint
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly clientAddress: string
  /** The credential the client sent, so that it can be told apart in texts that must not show it. */
  token: string | null
  /** Credentials of the channels that were asked, for the same reason. */
  readonly credentials: Set<string>
  identity: Identity | null
  facts: RequestFacts | null
  requestedModel: string | null
  /** Whole, as it came; not to be read once the call is settled. */
  body: Buffer | null
  /** The body parsed, once something had to be translated. */
  json: Json | null
  /** What became of it in the last translation. */
  notes: TranslationNote[] | null
  /** What metering and a leaving client go by, fixed at admission. */
  price: { model: Model; multiplier: string; clientGone: Group['clientGone'] } | null
  lease: Lease | null
  /** What it holds of its Idempotency-Key. */
  claim: Claim | null
  /** The account whose money is limited, from the moment a reservation may exist. */
  reservedAccountId: string | null
  /** Set once the request stands in the journal. */
  opened: OpenRecord | null
  sentAt: number | null
  firstTokenAt: number | null
  readonly attempts: AttemptRecord[]
  /** Whose answer or refusal the client gets, where it is not a chat's. */
  asked: Asked | null
  /** Among the calls that run now; -1: it is none of them. */
  place: number
  /** Set by whoever writes the row: a request has one. */
  settled: boolean
  clientGone: boolean
  shuttingDown: boolean
  /** The upstream call that runs now. */
  running: UpstreamCall | undefined
  /** Run when the row is written: timers to end. */
  readonly releases: (() => void)[]
  /** Run when the row is written and nothing can still read the request's bytes: memory to use again. */
  readonly slabs: (() => void)[]
  /** Extra response headers, such as rate limits. */
  readonly headers: Record<string, string>
}

/** What is known of an upstream call before it is made. */
export function newAttempt({
  channel,
  protocol,
  upstreamModel,
  reason,
}: Pick<Candidate, 'channel' | 'reason'> & {
  protocol: ProtocolName | null
  upstreamModel: string | null
}): AttemptRecord {
  return {
    channel: channel.name,
    upstreamProtocol: protocol,
    upstreamModel: upstreamModel === null ? null : redactText(upstreamModel),
    reason,
    passedOver: false,
    status: null,
    error: null,
    firstByteMs: null,
    totalMs: null,
    upstreamRequestId: null,
  }
}

/** A candidate that is not called, and why. */
export function passedOver({ channel, protocol, upstreamModel }: Passed, reason: string): AttemptRecord {
  const known = { protocol: protocol ?? null, upstreamModel: upstreamModel ?? null }
  return { ...newAttempt({ channel, reason, ...known }), passedOver: true }
}

/** How a call ended, as the relay or a refusal saw it. */
export interface Ending {
  status: number
  outcome: Outcome
  error: GatewayError | null
  observation: Observation | null
  streamEnd: StreamEnd | null
  target: Asked | null
  metered: Metered
}

/** What a row says of a target. */
export type Asked = Pick<Candidate, 'channel' | 'protocol' | 'native'>

/** What a row says of how far a request came. */
type Progress = Pick<Call, 'identity' | 'sentAt' | 'startedAt' | 'firstTokenAt' | 'attempts' | 'notes'>

export function closeRecordOf(call: Progress, ending: Ending): CloseRecord {
  const { error, observation, target, metered } = ending
  return {
    upstreamProtocol: target?.protocol ?? null,
    servedModel: observation?.servedModel ?? null,
    channel: target?.channel.name ?? null,
    status: ending.status,
    outcome: ending.outcome,
    error:
      error === null
        ? null
        : { kind: error.kind, message: error.message, upstreamStatus: error.upstreamStatus ?? null },
    finishReason: observation?.finishReason ?? null,
    usage: metered.usage,
    usageSource: metered.usageSource,
    streamEnd: ending.streamEnd,
    costNano: metered.costNano,
    accountId: call.identity?.tenantId ?? null,
    priceId: metered.priceId,
    priceMultiplier: metered.priceMultiplier,
    queueMs: call.sentAt === null ? null : call.sentAt - call.startedAt,
    firstTokenMs: call.firstTokenAt === null ? null : call.firstTokenAt - call.startedAt,
    totalMs: Date.now() - call.startedAt,
    upstreamRequestId: call.attempts.findLast((attempt) => !attempt.passedOver)?.upstreamRequestId ?? null,
    attempts: call.attempts,
    notes: call.notes === null || call.notes.length === 0 ? null : redactText(JSON.stringify(call.notes)),
    folded: 1,
  }
}

/** The ending of a request that no upstream has seen: it cost nothing, and that is known. */
export function refusalOf(error: GatewayError, status: number): Ending {
  return {
    status,
    outcome: error.fault === 'client' ? 'refused' : 'failed',
    error,
    observation: null,
    streamEnd: null,
    target: null,
    metered: nothingMetered,
  }
}

/** Anything thrown becomes something a client may see. */
export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  return new GatewayError(
    'internal',
    'The gateway failed to handle this request. The request id tells its operators why.',
    {
      cause: error,
    },
  )
}
