import { randomUUIDv7 } from 'node:crypto'
import { expect, test } from 'vitest'
import { reasonWords } from '../../../src/canonical/reasons/catalogue.ts'
import { modelEndpoints } from '../../../src/pipeline/endpoints.ts'
import { showChannels } from '../../../src/process/measures/process-state.ts'
import { RowMeter } from '../../../src/process/measures/row-meter.ts'
import { declared, namesMax, seriesMax } from '../../../src/telemetry/metrics/declarations.ts'
import { renderText } from '../../../src/telemetry/metrics/render.ts'
import { Metrics } from '../../../src/telemetry/metrics/store.ts'
import { seeded } from '../../support/random.ts'
import { aClose, anAttempt, anOpen } from '../../support/records.ts'

const paths = modelEndpoints.map(({ path }) => path)
const hostile = [
  'other',
  'none',
  '',
  '"',
  '\\',
  'a\nb',
  '{}',
  'x="1",y="2"',
  '# HELP x',
  'é日本語',
  ' ',
  '__proto__',
  'constructor',
]

function meterOf(models: string[] = []) {
  const metrics = new Metrics()
  const snapshot = { models: new Map(models.map((id) => [id, { id }])) }
  return { metrics, meter: new RowMeter(metrics, { snapshot }, paths) }
}

test('10000 keys, and 5000 models and paths that clients made up, make no series', async () => {
  const { metrics, meter } = meterOf(['known'])
  for (let at = 0; at < 10_000; at++) {
    const open = anOpen({
      tenantId: randomUUIDv7(),
      keyId: randomUUIDv7(),
      requestedModel: `made-up-${at % 5_000}`,
      endpoint: at % 2 === 0 ? '/v1/messages' : `/v1/made-up-${at % 5_000}`,
      clientAddress: `10.0.${at >> 8}.${at & 255}`,
      userAgent: `agent ${at}`,
      endUser: `user ${at}`,
      tags: [`tag ${at}`],
    })
    meter.row(open, aClose({ servedModel: `served ${at}`, upstreamRequestId: `id ${at}` }))
  }
  const text = await renderText(metrics.values())
  expect(seriesIn(text)).toBeLessThan(reasonWords.length + 160)
  expect(text).not.toMatch(/made-up|agent \d|user \d|tag \d|served \d|10\.0/)
  expect(text).toContain('endpoint="other"')
  expect(metrics.cells(declared.tokens).at('output', 'main', 'other').value).toBe(10_000 * 20)
})

test('thousands of channels and models of the catalog, with hostile names, stay below the stated bound, and no request is lost', async () => {
  const random = seeded(19)
  const models = [...hostile, ...Array.from({ length: 3_000 }, (_, at) => `model ${at}`)]
  const channels = [
    ...hostile.filter((name) => name !== ''),
    ...Array.from({ length: 3_000 }, (_, at) => `channel ${at}`),
  ]
  const { metrics, meter } = meterOf(models)
  const outcomes = ['succeeded', 'refused', 'failed', 'cancelled', 'orphaned'] as const
  const kinds = ['upstream_error', 'upstream_timeout', 'internal', 'rate_limited'] as const
  const requests = 60_000
  for (let at = 0; at < requests; at++) {
    const channel = random.pick(channels)
    meter.row(
      anOpen({
        requestedModel: random.pick(models),
        endpoint: random.pick([...paths, '/other']),
        stream: at % 2 === 0,
      }),
      aClose({
        channel,
        outcome: random.pick(outcomes),
        status: random.pick([200, 404, 502, 999, -1]),
        error: { kind: random.pick(kinds), reason: 'internal_fault', message: 'x', upstreamStatus: null },
        costNano: at % 3 === 0 ? null : 1n,
        images: at % 5,
        attempts: [
          anAttempt({ channel }),
          anAttempt({ channel: random.pick(channels), error: { kind: random.pick(kinds), message: '' } }),
        ],
      }),
    )
    if (at % 7 === 0) meter.breakerOpened(channel)
  }
  const text = await renderText(metrics.values())
  expect(seriesIn(text)).toBeLessThan(seriesMax)
  const counted = [...metrics.cells(declared.requests).entries()].reduce(
    (sum, [, { value }]) => sum + value,
    0,
  )
  expect(counted).toBe(requests)
  const seen = new Set([...metrics.cells(declared.attempts).entries()].map(([[channel]]) => channel))
  expect(seen.size).toBeLessThanOrEqual(namesMax + 2)
  expect(metrics.cells(declared.unnamed).at().value).toBeGreaterThan(0)
  // Each line is one of the format, whatever a name holds.
  const line = /^\w+(\{(\w+="([^"\\\n]|\\["\\n])*",?)+\})? [\d.e+-]+$/
  const lines = text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))
  expect(lines.filter((each) => !line.test(each))).toEqual([])
})

test('the text is that of the format: escaped labels, units, and buckets that add up', async () => {
  const metrics = new Metrics()
  metrics.cells(declared.cost).at('say "hi"', 'a\\b\nc').value = 1_500_000_000
  const distribution = metrics.distributions(declared.beforeUpstream).at()
  for (const seconds of [0.0004, 0.02, 99]) distribution.observe(seconds)
  const text = await renderText(metrics.values())
  expect(text).toContain(`# HELP tollgate_cost_usd_total Cost of ended requests.
# TYPE tollgate_cost_usd_total counter
tollgate_cost_usd_total{channel="say \\"hi\\"",model="a\\\\b\\nc"} 1.5

`)
  const buckets = [
    '0.0005',
    '0.001',
    '0.0025',
    '0.005',
    '0.01',
    '0.025',
    '0.05',
    '0.1',
    '0.25',
    '0.5',
    '1',
    '5',
    '30',
  ]
  const name = 'tollgate_request_queue_seconds'
  expect(text.split('\n').filter((line) => line.startsWith(name))).toEqual([
    ...buckets.map((le, at) => `${name}_bucket{le="${le}"} ${at < 5 ? 1 : 2}`),
    `${name}_bucket{le="+Inf"} 3`,
    `${name}_sum 99.0204`,
    `${name}_count 3`,
  ])
})

test('channels and models that count as other are said in the number of what was folded', () => {
  const { metrics, meter } = meterOf(Array.from({ length: 150 }, (_, at) => `model ${at}`))
  const folded = () => metrics.cells(declared.unnamed).at().value
  for (let at = 0; at < namesMax; at++)
    meter.row(anOpen({ requestedModel: `model ${at}` }), aClose({ channel: `channel ${at}`, attempts: [] }))
  expect(folded()).toBe(0)
  meter.row(anOpen({ requestedModel: 'model 1' }), aClose({ channel: 'one more', attempts: [] }))
  expect(folded()).toBe(1)
  for (let at = 0; at < namesMax; at++)
    meter.row(
      anOpen({ requestedModel: `model ${at}` }),
      aClose({ channel: 'channel 0', attempts: [], error: null }),
    )
  expect(folded()).toBe(1)
  meter.row(anOpen({ requestedModel: 'model 149' }), aClose({ channel: 'channel 0', attempts: [] }))
  expect(folded()).toBe(2)
  // No one can name this one.
  meter.row(anOpen({ requestedModel: 'made up' }), aClose({ channel: 'channel 0', attempts: [] }))
  expect(folded()).toBe(2)
})

test('of channels that are shown together, the breaker is open or not, and calls and cooldowns add up', () => {
  const metrics = new Metrics()
  const names = Array.from({ length: namesMax + 3 }, (_, at) => `channel ${String(at).padStart(4, '0')}`)
  showChannels(
    metrics,
    names.map((name, at) => ({
      name,
      isOpen: at > namesMax,
      cooling: { refused: 1, limited: 2 },
      running: 5,
    })),
  )
  const value = (of: 'breakerOpen' | 'channelInFlight' | 'cooling', ...labels: string[]) =>
    metrics.cells(declared[of]).at(...labels).value
  expect(value('breakerOpen', 'other')).toBe(1)
  expect(value('breakerOpen', 'channel 0000')).toBe(0)
  expect(value('channelInFlight', 'other')).toBe(15)
  expect(value('cooling', 'other', 'refused')).toBe(3)
  expect(value('cooling', 'channel 0000', 'limited')).toBe(2)
})

test('a clock that is set back makes no sum fall', () => {
  const { metrics, meter } = meterOf()
  meter.row(anOpen(), aClose({ totalMs: 2_000, attempts: [] }))
  meter.row(anOpen(), aClose({ totalMs: -9_000, queueMs: -1, firstTokenMs: -1, attempts: [] }))
  const { sum, counts } = metrics.distributions(declared.duration).at('/v1/chat/completions', 'whole')
  expect(sum).toBe(2)
  expect(counts.reduce((a, b) => a + b, 0)).toBe(2)
})

test('while an answer is written, requests have their turns', async () => {
  const { metrics, meter } = meterOf(['known'])
  meter.row(anOpen({ requestedModel: 'known' }), aClose())
  let turns = 0
  let next = setImmediate(function turn() {
    turns++
    next = setImmediate(turn)
  })
  const text = await renderText(metrics.values())
  clearImmediate(next)
  const written = text.match(/^# TYPE /gm)?.length ?? 0
  expect(written).toBeGreaterThan(10)
  expect(turns).toBeGreaterThanOrEqual(written - 1)
})

test('a supervisor that adds up many processes stays below the same bound', () => {
  const sum = new Metrics()
  for (let process = 0; process < 20; process++) {
    const { metrics, meter } = meterOf()
    for (let at = 0; at < 90; at++) {
      const channel = `channel ${process}-${at}`
      meter.row(anOpen(), aClose({ channel, attempts: [anAttempt({ channel })] }))
    }
    sum.merge(metrics.values())
  }
  const attempts = [...sum.cells(declared.attempts).entries()]
  expect(attempts.length).toBeLessThanOrEqual(declared.attempts.setsMax + 1)
  expect(attempts.reduce((total, [, { value }]) => total + value, 0)).toBe(20 * 90)
  const first = [...sum.distributions(declared.firstToken).entries()]
  expect(first.length).toBeLessThanOrEqual(declared.firstToken.setsMax + 1)
  expect(first.flatMap(([, { counts }]) => counts).reduce((a, b) => a + b, 0)).toBe(20 * 90)
})

function seriesIn(text: string): number {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
}
