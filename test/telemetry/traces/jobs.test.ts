import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SeenSpan } from '../../support/otlp.ts'
import { startTollgate, type TollgateProcess } from '../../support/tollgate.ts'
import { makeTraced, type Traced, tracedKey } from '../../support/traced.ts'
import { until } from '../../support/until.ts'

let traced: Traced<TollgateProcess>
let worker: TollgateProcess
beforeAll(async () => {
  traced = await makeTraced(startTollgate, { ROLE: 'api' })
  worker = await traced.start({ ROLE: 'worker' })
})
afterAll(async () => await traced?.close())

test('an image job is one trace over the API process, the queue and the worker', async () => {
  const answer = await traced.post('/v1/images/generations', { model: 'draw', prompt: 'fail-first:1' })
  expect(answer.status).toBe(200)
  const spans = await traced.collector.traceOf(
    answer.headers.get('x-request-id') ?? '',
    (seen) => seen.some(({ name }) => name.startsWith('POST ')) && runsOf(seen).length === 2,
  )
  const root = spans.find(({ kind }) => kind === 'server')
  expect(root?.attributes).toMatchObject({
    'gen_ai.operation.name': 'generate_content',
    'gen_ai.request.model': 'draw',
    'http.response.status_code': 200,
  })
  expect(spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['accept', 'wait for the job', 'record']),
  )
  const [first, second] = runsOf(spans)
  for (const run of [first, second]) {
    expect(run?.parentId).toBe(root?.spanId)
    expect(run?.resource).toMatchObject({ 'tollgate.role': 'worker', 'process.pid': worker.pid })
  }
  expect(first?.attributes).toMatchObject({ 'tollgate.job.run': 1 })
  expect(second?.attributes).toMatchObject({
    'tollgate.job.run': 2,
    'tollgate.outcome': 'succeeded',
    'tollgate.channel': 'painter',
    'gen_ai.output.type': 'image',
  })
  const calls = spans.filter(({ kind }) => kind === 'client')
  expect(calls.map(({ parentId, isError }) => ({ parentId, isError }))).toEqual([
    { parentId: first?.spanId, isError: true },
    { parentId: second?.spanId, isError: false },
  ])
})

test('an answer in the background is one trace, with the call of the worker and its webhook', async () => {
  const taken = Promise.withResolvers<void>()
  const receiver = createServer((request, response) => {
    request.resume()
    response.end()
    taken.resolve()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  const answer = await traced.post(
    '/v1/responses',
    { model: 'good', input: 'hi', background: true },
    { headers: { 'x-tollgate-webhook': `http://127.0.0.1:${port}/` } },
  )
  expect(answer.status).toBe(200)
  await answer.text()
  await taken.promise
  const spans = await traced.collector.traceOf(
    answer.headers.get('x-request-id') ?? '',
    (seen) =>
      seen.some(({ name }) => name === 'webhook') && seen.some(({ name }) => name.startsWith('POST ')),
  )
  const root = spans.find(({ kind }) => kind === 'server')
  const run = spans.find(({ name }) => name === 'make answer')
  expect(run).toMatchObject({ kind: 'consumer', parentId: root?.spanId })
  expect(run?.attributes).toMatchObject({
    'tollgate.outcome': 'succeeded',
    'tollgate.usage.output_tokens': 7,
  })
  const call = spans.find(({ name }) => name === 'chat good')
  expect(call).toMatchObject({ kind: 'client', parentId: run?.spanId })
  expect(spans.filter(({ attributes }) => 'gen_ai.usage.output_tokens' in attributes)).toEqual([call])
  expect(traced.upstream.requests.at(-1)?.headers.traceparent).toBe(`00-${call?.traceId}-${call?.spanId}-01`)
  const webhook = spans.find(({ name }) => name === 'webhook')
  expect(webhook).toMatchObject({ kind: 'client', parentId: root?.spanId, isError: false })
  expect(webhook?.attributes).toMatchObject({ 'http.response.status_code': 200 })
  receiver.closeAllConnections()
  receiver.close()
})

test('a line of a worker about a job has the id of its trace', async () => {
  const answer = await traced.post('/v1/images/generations', { model: 'draw', prompt: 'fail:400' })
  expect(answer.status).toBe(400)
  const id = answer.headers.get('x-request-id') ?? ''
  const [root] = await traced.collector.traceOf(id, (seen) => runsOf(seen).length === 1)
  const line = await until(() =>
    worker
      .stderr()
      .split('\n')
      .find((text) => text.includes(id) && text.includes('"by":"job"')),
  )
  expect(JSON.parse(line)).toMatchObject({ request: id, outcome: 'failed', trace_id: root?.traceId })
  expect(worker.stderr() + traced.tollgate.stderr()).not.toContain(tracedKey)
})

function runsOf(spans: readonly SeenSpan[]): SeenSpan[] {
  return spans.filter(({ name }) => name === 'make images')
}
