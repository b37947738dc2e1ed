import { randomUUIDv7 } from 'node:crypto'
import type { AttemptRecord, CloseRecord, OpenRecord } from '../../src/journal/record.ts'

/** The open record of a chat request without a tenant. */
export function anOpen(changes: Partial<OpenRecord> = {}): OpenRecord {
  return {
    id: randomUUIDv7(),
    tenantId: null,
    keyId: null,
    groupId: null,
    endpoint: '/v1/chat/completions',
    clientProtocol: 'openai-chat',
    requestedModel: 'gpt-main',
    stream: false,
    clientAddress: '127.0.0.1',
    userAgent: 'test',
    idempotencyKey: null,
    reservedAccountId: null,
    capture: 'content',
    body: Buffer.from('{"model":"gpt-main"}'),
    ...changes,
  }
}

export function aClose(changes: Partial<CloseRecord> = {}): CloseRecord {
  return {
    upstreamProtocol: 'openai-chat',
    servedModel: 'gpt-main-2026',
    channel: 'main',
    status: 200,
    outcome: 'succeeded',
    error: null,
    finishReason: 'stop',
    usage: { input: 10, cacheRead: 1, cacheWrite: 2, output: 20, reasoning: 3 },
    usageSource: 'upstream',
    streamEnd: 'complete',
    costNano: 123_456_789_012n,
    accountId: null,
    priceId: null,
    priceMultiplier: '1',
    queueMs: 1,
    firstTokenMs: 20,
    totalMs: 30,
    upstreamRequestId: 'req_1',
    attempts: [anAttempt({ upstreamRequestId: 'req_1' })],
    notes: null,
    folded: 1,
    ...changes,
  }
}

export function anAttempt(changes: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    channel: 'main',
    upstreamProtocol: 'openai-chat',
    upstreamModel: 'up',
    reason: 'only candidate',
    passedOver: false,
    status: 200,
    error: null,
    firstByteMs: 20,
    totalMs: 30,
    upstreamRequestId: null,
    ...changes,
  }
}
