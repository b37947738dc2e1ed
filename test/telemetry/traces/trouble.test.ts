import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../support/database.ts'
import { metricsUrl, scrape } from '../../support/metrics.ts'
import { serverArgs, startTollgate, type TollgateProcess } from '../../support/tollgate.ts'
import { makeTraced, type Traced } from '../../support/traced.ts'
import { until } from '../../support/until.ts'

const body = { model: 'good', messages: [{ role: 'user', content: 'hello' }] }

describe('a collector in trouble', () => {
  let traced: Traced<TollgateProcess>
  let metrics: string
  beforeAll(async () => {
    traced = await makeTraced(startTollgate, {
      METRICS_PORT: '0',
      OTEL_BSP_MAX_QUEUE_SIZE: '200',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '100',
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
    })
    metrics = await metricsUrl(traced.tollgate)
  })
  afterAll(async () => await traced?.close())

  const spans = async (result: string) =>
    (await scrape(metrics)).value('tollgate_trace_spans_total', { result }) ?? 0

  test('one that hangs holds up no request: all are answered, spans beyond the bound are dropped and counted', async () => {
    traced.collector.behave('hang')
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const seen: number[] = []
        for (let each = 0; each < 10; each++) {
          const answer = await traced.post('/v1/chat/completions', body)
          await answer.text()
          seen.push(answer.status)
        }
        return seen
      }),
    )
    expect(statuses.flat()).toEqual(Array.from({ length: 200 }, () => 200))
    // Of 200 traces with eight spans each, only those of the first are held.
    await until(async () => (await spans('dropped')) >= 200 * 8 - 200)
    expect((await scrape(metrics)).value('tollgate_trace_spans_waiting')).toBeLessThanOrEqual(200)
    expect(await spans('exported')).toBe(0)
    // One export is under way, and no other begins before its end.
    expect(traced.collector.exports).toHaveLength(1)
  })

  test('the process ends in time with a collector that hangs', async () => {
    const other = await traced.start({})
    const answer = await fetch(`${other.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer key-of-a-traced-tenant-0001', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    await answer.text()
    expect(await other.stop()).toBe(0)
  })
})

test.for([503, 400])(
  'a collector that answers %i fails no request, and the log says it once',
  async (status) => {
    const traced = await makeTraced(startTollgate, { METRICS_PORT: '0' })
    traced.collector.behave(status)
    const metrics = await metricsUrl(traced.tollgate)
    for (let each = 0; each < 5; each++) {
      const answer = await traced.post('/v1/chat/completions', body)
      await answer.text()
      expect(answer.status).toBe(200)
    }
    await until(() => traced.collector.exports.length > (status === 503 ? 1 : 0))
    if (status === 400)
      await until(
        async () =>
          ((await scrape(metrics)).value('tollgate_trace_spans_total', { result: 'failed' }) ?? 0) > 0,
      )
    traced.collector.behave('take')
    const again = await traced.post('/v1/chat/completions', body)
    await again.text()
    await traced.collector.traceOf(again.headers.get('x-request-id') ?? '')
    const told = () => messagesOf(traced).filter((message) => message.includes('the collector'))
    await until(() => told().length === 2)
    expect(told()).toEqual([
      'the collector does not accept traces; they are dropped when too many are waiting',
      'the collector accepts traces again',
    ])
    await traced.close()
  },
)

test('the last spans of a process reach the collector before it ends', async () => {
  const traced = await makeTraced(startTollgate, { OTEL_BSP_SCHEDULE_DELAY: '600000' })
  const answer = await traced.post('/v1/chat/completions', body)
  await answer.text()
  expect(traced.collector.exports).toEqual([])
  await traced.tollgate.stop()
  await traced.collector.traceOf(answer.headers.get('x-request-id') ?? '')
  await traced.close()
})

test('without a collector, and with OTEL_SDK_DISABLED, a process loads nothing of OpenTelemetry', async () => {
  const { url: databaseUrl, drop } = await freshDatabase()
  const loaded = async (env: Record<string, string>) => {
    const tollgate = await startTollgate({
      databaseUrl,
      gatewayYaml: undefined,
      env,
      nodeArgs: [...serverArgs, '--import', './test/support/loaded-preload.ts'],
    })
    await fetch(`${tollgate.url}/v1/models`)
    await tollgate.stop()
    return tollgate.stderr().includes('loaded @opentelemetry')
  }
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }
  expect(await loaded(collector)).toBe(true)
  expect(await loaded({})).toBe(false)
  expect(await loaded({ ...collector, OTEL_SDK_DISABLED: 'true' })).toBe(false)
  expect(await loaded({ ...collector, OTEL_TRACES_EXPORTER: 'none' })).toBe(false)
  await drop()
})

test.for([
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf'],
  [{ OTEL_TRACES_SAMPLER: 'sometimes' }, 'OTEL_TRACES_SAMPLER: must be one of always_on'],
  [{ OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'no-value' }, 'OTEL_EXPORTER_OTLP_HEADERS: must have the form key=value'],
] as const)('a wrong value ends the start: %j', async ([env, message]) => {
  const { readConfig } = await import('../../../src/config/config.ts')
  expect(() => readConfig(env)).toThrow(message)
})

function messagesOf({ tollgate }: Traced<TollgateProcess>): string[] {
  return tollgate
    .stderr()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [String(JSON.parse(line).msg)] : []))
}
