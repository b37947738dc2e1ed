import { reasons, sentenceOf } from '../canonical/reasons/catalogue.ts'
import type { CloseRecord, OpenRecord } from './record.ts'

/** The end of a request whose process died. Its cost is unknown and is not estimated. */
export const orphan: CloseRecord = {
  upstreamProtocol: null,
  servedModel: null,
  channel: null,
  status: 500,
  outcome: 'orphaned',
  error: {
    kind: reasons.process_ended.kind,
    reason: 'process_ended',
    message: sentenceOf('process_ended', {}),
    upstreamStatus: null,
  },
  finishReason: null,
  usage: null,
  usageSource: 'none',
  streamEnd: null,
  costNano: null,
  accountId: null,
  priceId: null,
  priceMultiplier: null,
  queueMs: null,
  firstTokenMs: null,
  totalMs: 0,
  upstreamRequestId: null,
  attempts: [],
  notes: null,
  folded: 1,
}

/** The endpoint of a request whose open frame is lost. */
export const lostEndpoint = '(lost)'

/** The beginning of such a request, which contains only the facts from the close frame. */
export function unknownOpen(id: string, tenantId: string | null): OpenRecord {
  return {
    id,
    tenantId,
    keyId: null,
    groupId: null,
    endpoint: lostEndpoint,
    clientProtocol: null,
    requestedModel: null,
    stream: false,
    clientAddress: null,
    userAgent: null,
    idempotencyKey: null,
    reservedAccountId: null,
    capture: 'none',
    body: null,
  }
}
