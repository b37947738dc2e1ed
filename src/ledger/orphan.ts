import type { CloseRecord } from './record.ts'

/** The end of a request whose process died: what it cost is not known, and is not guessed. */
export function orphanOf(): CloseRecord {
  return {
    upstreamProtocol: null,
    servedModel: null,
    channel: null,
    status: 500,
    outcome: 'orphaned',
    error: {
      kind: 'internal',
      message: 'The gateway process ended before this request did.',
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
}
