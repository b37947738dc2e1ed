import { randomUUIDv7 } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  keptAttempts,
  keptError,
  keptOpened,
  keptPartials,
  keptQuote,
  keptResult,
  keptWebhook,
  quoteText,
  readKept,
} from '../../src/jobs/kept-json.ts'
import type { JobRow } from '../../src/jobs/queries.ts'
import { jobOf } from '../../src/jobs/rows.ts'

const id = randomUUIDv7()
const attempt = {
  channel: 'painter',
  upstreamProtocol: 'openai-images',
  upstreamModel: 'picture-1',
  reason: 'only candidate',
  passedOver: false,
  status: 500,
  error: { kind: 'upstream_error', message: 'broken' },
  firstByteMs: 1.5,
  totalMs: 12,
  upstreamRequestId: null,
}
const opened = {
  id,
  tenantId: 'a',
  keyId: 'b',
  groupId: 'c',
  endpoint: '/v1/images/generations',
  clientProtocol: 'openai-images',
  requestedModel: 'picture',
  stream: false,
  clientAddress: '192.0.2.1',
  userAgent: null,
  idempotencyKey: null,
  reservedAccountId: null,
  capture: 'content',
  body: null,
}
const quote = {
  price: {
    id: 'p',
    input: 9_007_199_254_740_993n,
    cacheRead: undefined,
    cacheWrite: undefined,
    output: undefined,
    reasoning: undefined,
    image: 40_000_000n,
    imageRates: [{ size: '512x512', quality: undefined, nano: 5_000_000n }],
  },
  multiplier: '1.5',
  size: '512x512',
  quality: undefined,
  count: 2,
  heldNano: undefined,
  delivery: undefined,
  stream: true,
}

const row: JobRow = {
  id,
  kind: 'image',
  events: 0,
  tenantId: 'a',
  keyId: 'b',
  groupId: 'c',
  state: 'running',
  priority: 0,
  model: 'picture',
  quote: quoteText(quote),
  opened: JSON.stringify(opened),
  createdAt: new Date(0),
  startedAt: null,
  finishedAt: null,
  fence: 1,
  runs: 1,
  cancelRequested: false,
  attempts: JSON.stringify([attempt]),
  partials: '[{"file":"day/a.png","index":0}]',
  result: null,
  error: null,
  cost: null,
  webhookState: null,
  webhookTries: 0,
}

test('reading a job gives the job that was written', () => {
  expect(jobOf(row)).toMatchObject({ opened, attempts: [attempt], result: null, error: null })
  expect(jobOf(row).quote).toEqual(quote)
  const result = {
    created: 1,
    images: [{ file: 'day/a.png', contentType: 'image/png', bytes: 70 }],
    delivery: 'url',
    usage: { inputTokens: 3, outputTokens: 4 },
  }
  const error = { kind: 'rate_limited', message: 'later', retryAfterSeconds: 2 }
  const ended = jobOf({ ...row, result: JSON.stringify(result), error: JSON.stringify(error) })
  expect(ended).toMatchObject({ result, error })
})

describe('the JSON of another release', () => {
  test('older: a quote without the held amount, and a preview without its image', () => {
    const { heldNano, ...older } = JSON.parse(quoteText({ ...quote, heldNano: 5n })) as Record<
      string,
      unknown
    >
    expect(read(keptQuote, { ...older, heldNano }).heldNano).toBe(5n)
    expect(read(keptQuote, older).heldNano).toBeUndefined()
    expect(read(keptPartials, [{ file: 'f', index: 1 }])).toEqual([{ file: 'f', index: 1 }])
  })

  test('newer: unknown words become known ones', () => {
    const newer = {
      ...attempt,
      upstreamProtocol: 'smoke-signals',
      error: { kind: 'rained_out', message: 'm' },
    }
    expect(read(keptAttempts, [newer])).toMatchObject([
      { upstreamProtocol: null, error: { kind: 'internal', message: 'm' } },
    ])
    expect(read(keptError, { kind: 'rained_out', reason: 'rain', message: 'm' })).toEqual({
      ...{ kind: 'internal', reason: 'internal_fault', message: 'm' },
    })
    expect(read(keptOpened, { ...opened, clientProtocol: 'smoke-signals' }).clientProtocol).toBeNull()
  })

  test('newer: unknown members survive in parts that we write back', () => {
    const newer = { ...attempt, region: 'eu', error: { ...attempt.error, hint: 'h' } }
    expect(read(keptAttempts, [newer])).toEqual([newer])
    expect(read(keptPartials, [{ file: 'f', index: 1, width: 8 }])).toEqual([
      { file: 'f', index: 1, width: 8 },
    ])
    expect(read(keptOpened, { ...opened, region: 'eu' })).toEqual({ ...opened, region: 'eu' })
  })
})

describe('wrong JSON is an error that names the job and the place', () => {
  test.each<[keyof JobRow, unknown, string]>([
    ['quote', { ...quote, price: undefined, count: '2' }, 'quote of image job ID .*count'],
    [
      'quote',
      { ...quote, price: { id: 'p', image: 4, imageRates: [] } },
      'quote of image job ID .*price.image',
    ],
    ['opened', { ...opened, endpoint: 5 }, 'opened of image job ID .*endpoint'],
    ['attempts', [{ ...attempt, status: 'good' }], 'attempts of image job ID .*0.status'],
    ['partials', [{ file: 'f' }], 'partials of image job ID .*0.index'],
    ['result', { created: 1, delivery: 'url' }, 'result of image job ID .*images'],
    ['error', { kind: 'internal' }, 'error of image job ID .*message'],
  ])('%s', (column, value, message) => {
    expect(() => jobOf({ ...row, [column]: JSON.stringify(value) })).toThrow(
      new RegExp(message.replace('ID', id)),
    )
  })

  test('a webhook without an address', () => {
    expect(() => read(keptWebhook, { origin: 'https://llm.example' })).toThrow(/url/)
    expect(() => readKept(keptResult, 'no JSON', 'result')).toThrow()
  })
})

function read<Value>(schema: Parameters<typeof readKept<Value>>[0], value: unknown): Value {
  return readKept(schema, JSON.stringify(value), 'what')
}
