import { expect, test } from 'vitest'
import { traceRow } from '../../../src/pipeline/trace-request.ts'
import { silentLog } from '../../../src/telemetry/relay-log.ts'
import type { SamplerName } from '../../../src/telemetry/traces/sampling.ts'
import { kinds } from '../../../src/telemetry/traces/span.ts'
import { Traces } from '../../../src/telemetry/traces/traces.ts'
import { aClose, anOpen } from '../../support/records.ts'

/** Which traces are recorded and kept, without a gateway. No collector is there. */

const tracesOf = (sampler: SamplerName, ratio: number) =>
  new Traces({
    collector: { url: 'http://127.0.0.1:9', headers: {}, timeoutMs: 1_000 },
    sampler,
    ratio,
    clientContext: 'parent',
    content: false,
    withheldFrom: new Set(),
    queue: { spansMax: 1_000, batchMax: 10_000, delayMs: 600_000 },
    resource: {},
    log: silentLog,
  })
const begun = { requestId: 'one', name: 'POST', kind: kinds.server }
/** A client asks for the trace by its flag, and by an id that every ratio takes. */
const asks = { traceparent: `00-${'0'.repeat(31)}1-b7ad6b7169203331-01` }

test.for(['parentbased_traceidratio', 'traceidratio', 'parentbased_always_off'] as const)(
  'with %s, a client has its traces recorded, and a caller without a good key has not',
  (sampler) => {
    const traces = tracesOf(sampler, 1e-9)
    traces.begin(begun, asks).end({ isStranger: true })
    expect(traces.waiting).toBe(0)
    traces.begin(begun, asks).end()
    expect(traces.waiting).toBe(1)
  },
)

test('traces that clients ask for leave half of the room for others', () => {
  const traces = tracesOf('parentbased_traceidratio', 1e-9)
  for (let each = 0; each < 2_000; each++) traces.begin(begun, asks).end()
  expect(traces.waiting).toBe(500)
  expect(traces.counts.dropped).toBe(1_500)
  // Jobs go on with a trace of ours: they get all of it.
  for (let each = 0; each < 2_000; each++) traces.continue(begun, asks.traceparent).end()
  expect(traces.waiting).toBe(1_000)
})

test('where all is recorded, so are callers without a good key', () => {
  const traces = tracesOf('parentbased_always_on', 1)
  traces.begin(begun, asks).end({ isStranger: true })
  traces.begin(begun, {}).end({ isStranger: true })
  expect(traces.waiting).toBe(2)
})

test('texts of upstreams, which may be as long as an answer, are cut in spans', () => {
  const trace = tracesOf('always_on', 1).begin(begun, {})
  const long = 'é'.repeat(1_000_000)
  traceRow(trace, anOpen(), aClose({ servedModel: long, finishReason: long }), [])
  expect(trace.root.attributes).toMatchObject({
    'gen_ai.response.model': 'é'.repeat(512),
    'gen_ai.response.finish_reasons': ['é'.repeat(512)],
  })
})

test('a request and its job in one process: the end of the one leaves lines of the other their trace', () => {
  const traces = tracesOf('always_on', 1)
  const request = traces.begin(begun, {})
  const job = traces.continue(begun, request.parentHeader())
  request.end()
  expect(traces.idOf('one')).toBe(job.id)
  job.end()
  expect(traces.idOf('one')).toBeUndefined()
})
