import { expect, test } from 'vitest'
import { kinds, type Span } from '../../../src/telemetry/traces/span.ts'
import { type Sent, SpanQueue } from '../../../src/telemetry/traces/span-queue.ts'
import { Trace } from '../../../src/telemetry/traces/trace.ts'

test('spans for which there is no room are dropped as whole traces, and counted', async () => {
  const sending = Promise.withResolvers<Sent>()
  const batches: (readonly Span[])[] = []
  const queue = new SpanQueue({
    spansMax: 10,
    batchMax: 4,
    delayMs: 60_000,
    send(spans) {
      batches.push(spans)
      return sending.promise
    },
    onState() {},
  })
  for (let trace = 0; trace < 4; trace++) queue.add(spansOf(4))
  // Four are being sent, four wait: two more would go in, but no four.
  expect(queue.size).toBe(8)
  expect(queue.counts).toEqual({ exported: 0, dropped: 8, failed: 0 })
  queue.add(spansOf(2))
  expect(queue.size).toBe(10)
  sending.resolve({ kind: 'taken', rejected: 1 })
  await queue.end(30_000)
  expect(batches.map(({ length }) => length)).toEqual([4, 4, 2])
  expect(queue.counts).toEqual({ exported: 7, dropped: 8, failed: 3 })
})

test('what a collector refuses is not sent again', async () => {
  let sent = 0
  const states: (string | undefined)[] = []
  const queue = new SpanQueue({
    spansMax: 10,
    batchMax: 2,
    delayMs: 60_000,
    async send() {
      sent++
      return sent === 1
        ? { kind: 'refused', why: 'it responded with status 400' }
        : { kind: 'taken', rejected: 0 }
    },
    onState: (failure) => states.push(failure),
  })
  queue.add(spansOf(2))
  queue.add(spansOf(2))
  await queue.end(30_000)
  expect(queue.counts).toEqual({ exported: 2, dropped: 0, failed: 2 })
  expect(states).toEqual(['it responded with status 400', undefined])
})

test('a batch that cannot be encoded is lost, counted and told, and the next one is sent', async () => {
  let sent = 0
  const states: (string | undefined)[] = []
  const queue = new SpanQueue({
    spansMax: 10,
    batchMax: 2,
    delayMs: 60_000,
    send() {
      sent++
      if (sent === 1) throw new RangeError('Array buffer allocation failed')
      return Promise.resolve({ kind: 'taken', rejected: 100 })
    },
    onState: (failure) => states.push(failure),
  })
  queue.add(spansOf(2))
  queue.add(spansOf(2))
  await queue.end(30_000)
  // This collector says that it rejected more than it got. No count falls.
  expect(queue.counts).toEqual({ exported: 0, dropped: 0, failed: 4 })
  expect(states).toEqual(['a batch cannot be sent: RangeError: Array buffer allocation failed', undefined])
})

test('the end of a process waits no longer than it may for a collector that hangs', async () => {
  const queue = new SpanQueue({
    spansMax: 10,
    batchMax: 2,
    delayMs: 60_000,
    send: () => new Promise(() => {}),
    onState() {},
  })
  queue.add(spansOf(2))
  queue.add(spansOf(2))
  await queue.end(1)
  expect(queue.size).toBe(0)
  expect(queue.counts).toEqual({ exported: 0, dropped: 0, failed: 4 })
})

test('a trace has no more spans than it may', () => {
  let taken: readonly Span[] = []
  const trace = traceWith((spans) => {
    taken = spans
  })
  for (let each = 0; each < 1_000; each++) trace.step('read')
  trace.end()
  trace.end()
  expect(taken).toHaveLength(128)
  expect(taken.every(({ endedAt }) => endedAt !== undefined)).toBe(true)
})

function spansOf(count: number): readonly Span[] {
  let taken: readonly Span[] = []
  const trace = traceWith((spans) => {
    taken = spans
  })
  for (let each = 1; each < count; each++) trace.begin('each', kinds.internal)
  trace.end()
  return taken
}

function traceWith(take: (spans: readonly Span[]) => void): Trace {
  let ids = 0
  return new Trace(
    {
      id: '1'.repeat(32),
      requestId: 'one',
      isSampled: true,
      isAsked: false,
      name: 'root',
      kind: kinds.server,
      parent: undefined,
      link: undefined,
    },
    { newSpanId: () => String(ids++).padStart(16, '0'), take, forget() {} },
  )
}
