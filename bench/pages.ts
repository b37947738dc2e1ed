import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, chromium, type Page } from 'playwright-core'
import { adminClient, becomeOwner, ownerEmail, signedIn } from '../test/support/admin-client.ts'
import { gatewayYaml, secretKey } from '../test/support/gateway-yaml.ts'
import { chromiumPath } from '../test/support/machine.ts'
import { startTollgate } from '../test/support/tollgate.ts'
import { percentile } from './percentile.ts'
import { tableOf } from './table.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

/**
 * The console over a full usage log, in Chromium: `npm run bench:pages -- postgres://...`, on a database that
 * `npm run bench:seed-log` has filled. Build the pages first: `npm run build:pages`.
 *
 * Overview: 15 loads, each with an empty cache, 2 s apart. First paint is the browser's first-contentful-paint; "numbers" is when the
 * first sum of the last day is in the page.
 * Log of 30 days: to its end 200 times. A page is the time from the scroll to the frame after its 100 rows are in the list.
 * Heap is what V8 of that tab uses after a collection.
 */
const [databaseUrl] = process.argv.slice(2)
if (databaseUrl === undefined) throw new Error('Give the address of a filled database: postgres://...')

const loads = 15
const depth = 200
/** Runs in the page: wait for the frame with the first sum. */
const firstNumber = `(async () => {
  while (!/\\d/.test(document.querySelector('main dd')?.textContent ?? '')) await new Promise(requestAnimationFrame)
  return performance.now()
})()`

/** Runs in the page: its time is told after the frame, and so perhaps after the first sum. */
const firstPaint = `new Promise((resolve) => new PerformanceObserver((list) => {
  for (const { startTime } of list.getEntriesByName('first-contentful-paint')) resolve(startTime)
}).observe({ type: 'paint', buffered: true }))`

/** Runs in the page: to the end of the list, and wait for the frame with more rows. */
const nextPage = `(async () => {
  const list = document.querySelector('[role=grid]').parentElement
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const before = list.scrollHeight
  const start = performance.now()
  list.scrollTop = before
  while (list.scrollHeight === before) {
    if (performance.now() - start > 30_000) throw new Error('No more rows came within 30 s.')
    await frame()
  }
  await frame()
  return performance.now() - start
})()`

const gateway = await startTollgate({
  databaseUrl,
  gatewayYaml: gatewayYaml('http://127.0.0.1:9'),
  // The key of a former run, which has wrapped the secrets of this database.
  env: { SECRET_KEY: secretKey, PAGES: 'console' },
})
const api = adminClient(gateway.url)
// A former run has made the owner.
const cookie = await signedIn(api, ownerEmail).catch(() => becomeOwner(gateway, api))
const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] })
try {
  const overview = []
  for (let load = 0; load < loads; load++) {
    // The questions of the load before have been answered.
    await sleep(2_000)
    overview.push(await overviewLoad(browser))
  }
  const log = await scrolledLog(browser)
  console.log(
    tableOf(
      [
        ['ms', 'median', 'p95', 'longest'],
        ['overview: first paint', ...figures(overview.map(({ paint }) => paint))],
        ['overview: numbers', ...figures(overview.map(({ numbers }) => numbers))],
        ['log: a page of 100 rows', ...figures(log.pages)],
      ],
      (column) => column > 0,
    ),
  )
  console.log(
    `\nlog, ${depth} pages deep: ${log.heapMB.toFixed(0)} MB of heap, ${log.rowsInPage} rows in the page`,
  )
} finally {
  await browser.close()
  await gateway.stop()
}

async function overviewLoad(browser: Browser): Promise<{ paint: number; numbers: number }> {
  const { page, close } = await openPage(browser)
  await page.goto('/console')
  const numbers = await page.evaluate(firstNumber)
  const paint = await page.evaluate(firstPaint)
  const result = { paint: Number(paint), numbers: Number(numbers) }
  await close()
  return result
}

async function scrolledLog(browser: Browser) {
  const { page, close } = await openPage(browser)
  await page.goto('/console/log?last=30d')
  await page.getByRole('grid').getByRole('row').nth(20).waitFor()
  const pages: number[] = []
  for (let at = 0; at < depth; at++) pages.push(Number(await page.evaluate(nextPage)))
  const rowsInPage = await page.getByRole('grid').getByRole('row').count()
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await close()
  return { pages, rowsInPage, heapMB: usedSize / 1e6 }
}

async function openPage(browser: Browser): Promise<{ page: Page; close(): Promise<void> }> {
  const context = await browser.newContext({
    baseURL: gateway.url,
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
    timezoneId: 'UTC',
  })
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url: gateway.url, httpOnly: true, sameSite: 'Lax' }])
  return { page: await context.newPage(), close: () => context.close() }
}

function figures(samples: readonly number[]): string[] {
  return [0.5, 0.95, 1].map((share) => percentile(samples, share).toFixed(0))
}
