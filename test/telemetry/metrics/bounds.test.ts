import { randomUUIDv7 } from 'node:crypto'
import { expect, test } from 'vitest'
import { RowMeter } from '../../../src/measures/row-meter.ts'
import { modelEndpoints } from '../../../src/stages/endpoints.ts'
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
  expect(seriesIn(text)).toBeLessThan(250)
  expect(text).not.toMatch(/made-up|agent|user \d|tag \d|served|10\.0/)
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
        error: { kind: random.pick(kinds), message: 'x', upstreamStatus: null },
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
