import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { chromiumPath } from '../test/support/machine.ts'
import { makeMetered } from '../test/support/metered.ts'
import { startPrometheus } from '../test/support/prometheus.ts'
import { startTollgate } from '../test/support/tollgate.ts'
import { startTemporary } from './temporary-postgres.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

/**
 * Pictures of the main graphs on Prometheus' own page, over a gateway of two processes under mixed traffic:
 * `npm run screenshots:metrics`. It takes four minutes, and writes docs/images/metrics/NAME.png. In the middle a process
 * is killed.
 */
const folder = resolve(import.meta.dirname, '../docs/images/metrics')
const minutes = 3
await mkdir(folder, { recursive: true })

const postgres = await startTemporary()
const gateway = await makeMetered(startTollgate, { PROCESSES: '2' }, postgres.url)
const prometheus = await startPrometheus([new URL(gateway.metricsUrl).host])

/** Each picture is one page with these graphs, below each other. */
const pictures: Record<string, string[]> = {
  requests: [
    'sum by (outcome) (rate(tollgate_requests_total[30s]))',
    'sum by (kind) (rate(tollgate_request_errors_total[30s]))',
  ],
  latency: [
    'histogram_quantile(0.95, sum by (le, endpoint) (rate(tollgate_request_duration_seconds_bucket[30s])))',
    'histogram_quantile(0.95, sum by (le) (rate(tollgate_request_queue_seconds_bucket[30s])))',
  ],
  channels: [
    'sum by (channel, result) (rate(tollgate_attempts_total[30s]))',
    'max by (channel) (tollgate_channel_breaker_open)',
  ],
}

const endsAt = Date.now() + minutes * 60_000
const mixed = async () => {
  while (Date.now() < endsAt) {
    await gateway.makeTraffic().catch(() => {})
    await sleep(500)
  }
}
const messages = [{ role: 'user', content: 'hello' }]
const streams = async () => {
  while (Date.now() < endsAt) {
    const body = { model: 'paced-20x30', stream: true, messages }
    const answer = await gateway.post('/v1/chat/completions', body).catch(() => undefined)
    await answer?.text().catch(() => '')
  }
}
const load = [mixed(), streams(), streams(), streams()]
await sleep((minutes * 60_000) / 2)
process.kill(gateway.tollgate.members()[0] ?? 0, 'SIGKILL')
await Promise.all(load)

const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] })
const page = await browser.newPage({ viewport: { width: 1280, height: 1100 } })
for (const [name, graphs] of Object.entries(pictures)) {
  const query = new URLSearchParams()
  for (const [at, expression] of graphs.entries()) {
    query.append(`g${at}.expr`, expression)
    query.append(`g${at}.tab`, '0')
    query.append(`g${at}.range_input`, `${minutes}m`)
  }
  await page.goto(`${prometheus.url}/graph?${query}`)
  await page
    .locator('.rickshaw_graph svg')
    .nth(graphs.length - 1)
    .waitFor()
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
await browser.close()
await prometheus.close()
await gateway.close()
await postgres.stop()
