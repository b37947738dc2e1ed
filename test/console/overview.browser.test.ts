import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminClient, join } from '../support/admin-client.ts'
import { axe, type BrowserBed, fitsSideways, type Owner, startBrowser } from '../support/browser.ts'

/** The overview: its address, the ways from its numbers to the log, errors in groups, and a gateway that does not answer. */

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** All requests are of this minute and the one before it, so that a bar has a known height. */
const busy = Math.floor(Date.now() / hourMs) * hourMs - 3 * hourMs + 10 * minuteMs
const at = (ms: number) => new Date(ms).toISOString()
const range = `from=${at(busy - 10 * minuteMs)}&to=${at(busy + 10 * minuteMs)}`

let bed: BrowserBed
let owner: Owner
let tenants: Record<string, string>
let sent = 0

beforeAll(async () => {
  bed = await startBrowser()
  owner = await bed.makeOwner()
  const rows = await bed.database.sql<{ id: string; name: string }[]>`select id, name from tenants`
  tenants = Object.fromEntries(rows.map(({ id, name }) => [name, id]))
  const failed = {
    status: 502,
    outcome: 'failed',
    error_kind: 'upstream_error',
    error_message: 'The engine <b>stalled</b>.',
    error_upstream_status: 500,
  }
  for (let n = 0; n < 6; n++) await add(busy, {})
  for (let n = 0; n < 3; n++) await add(busy, failed)
  await add(busy, {
    status: 429,
    outcome: 'refused',
    error_kind: 'rate_limited',
    error_message: 'Too many.',
    channel: null,
  })
  await add(busy - minuteMs, {
    ...failed,
    tenant_id: tenants.paid,
    error_kind: 'internal',
    error_upstream_status: null,
  })
})
afterAll(() => bed?.close())

/** A row of the usage log of that minute. The sums count it as they count every row. */
async function add(minute: number, changes: Record<string, unknown>): Promise<void> {
  const ms = minute + sent++
  const time = ms.toString(16).padStart(12, '0')
  await bed.database.sql`insert into requests ${bed.database.sql({
    id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`,
    created_at: new Date(ms),
    tenant_id: tenants.free,
    endpoint: '/v1/chat/completions',
    requested_model: 'main',
    served_model: 'upstream-main',
    channel: 'scripted',
    stream: false,
    status: 200,
    outcome: 'succeeded',
    usage_source: 'upstream',
    attempt_count: 1,
    total_ms: 120,
    folded: 1,
    ...changes,
  })}`
}

async function open(address: string, options: Parameters<BrowserBed['page']>[0] = {}): Promise<Page> {
  const page = await bed.page(options)
  await bed.signIn(page)
  await page.goto(address)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  return page
}

/** The filters of the address, by name. */
function filtersOf(page: Page): Record<string, string[]> {
  const { searchParams } = new URL(page.url())
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)]),
  )
}

const minute = { from: [at(busy)], to: [at(busy + minuteMs)] }

test('tab and order of the table are the address: back, forward and a second page show the same', async () => {
  const page = await open(`/console?${range}`)
  await page.getByRole('tab', { name: 'Channels' }).click()
  await page.waitForURL(/[?&]tab=channels/)
  await page.getByRole('rowheader', { name: /^scripted/ }).waitFor()
  await page.getByRole('columnheader', { name: 'Errors' }).getByRole('button').click()
  await page.waitForURL(/[?&]sort=-errors/)
  const second = await open(page.url())
  await second.getByRole('tab', { name: 'Channels', selected: true }).waitFor()
  await second.getByRole('columnheader', { name: 'Errors ↓' }).waitFor()
  await page.goBack()
  await page.getByRole('columnheader', { name: 'Requests ↓' }).waitFor()
  await page.goBack()
  await page.getByRole('tab', { name: 'Models', selected: true }).waitFor()
  expect(filtersOf(page)).toEqual({ from: [at(busy - 10 * minuteMs)], to: [at(busy + 10 * minuteMs)] })
  await page.goForward()
  await page.getByRole('tab', { name: 'Channels', selected: true }).waitFor()
  await page.goto(`/console?${range}&tab=nothing&sort=nothing`)
  await page.getByRole('tab', { name: 'Models', selected: true }).waitFor()
})

test('each tab shows its own rows and no others, whichever was open before and however slow the answer is', async () => {
  const own: Record<string, string[]> = {
    Models: ['main'],
    Channels: ['scripted', 'no channel'],
    Tenants: ['free', 'paid'],
    Keys: ['unknown callers'],
  }
  const page = await open(`/console?${range}`)
  const table = page.getByRole('region', { name: /^Sums by/ })
  const shown = async () =>
    (await table.getByRole('rowheader').allInnerTexts()).map((text) => text.replace(/\s*log$/, ''))
  await expect.poll(shown).toEqual(own.Models)
  for (const title of ['Channels', 'Tenants', 'Keys', 'Models', 'Keys', 'Channels', 'Tenants', 'Models']) {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/summary\?.*group_by=/, async (route) => {
      await held
      await route.continue()
    })
    await page.getByRole('tab', { name: title }).click()
    await page.getByRole('tab', { name: title, selected: true }).waitFor()
    expect((await shown()).filter((name) => own[title]?.includes(name) !== true)).toEqual([])
    release()
    await expect.poll(shown).toEqual(own[title])
    await page.unroute(/summary\?.*group_by=/)
  }
})

test('the numbers, and the rows of the table, lead to just their requests in the log', async () => {
  const page = await open(`/console?${range}`)
  await page.getByRole('link', { name: /^Errors: / }).click()
  await page.waitForURL('**/console/log?*')
  expect(filtersOf(page)).toMatchObject({ outcome: ['refused', 'failed', 'orphaned'] })
  await page.getByText('5 requests match').waitFor()
  await page.goBack()
  await page.getByRole('tab', { name: 'Tenants' }).click()
  await page.getByRole('link', { name: 'The log of paid' }).click()
  await page.getByText('1 request matches').waitFor()
  expect(filtersOf(page)).toMatchObject({ tenant_id: [tenants.paid] })
  await page.goBack()
  await page.getByRole('link', { name: 'the errors of free' }).click()
  await page.getByText('4 requests match').waitFor()
})

test('a click on a part of a bar leads to its requests, above the bar to all of its minute; a drag chooses a time', async () => {
  const page = await open(`/console?${range}`)
  const plot = page.locator('section[aria-label="Requests by outcome"] .u-over')
  const clickAt = async (height: number) => {
    const { width, height: whole } = (await plot.boundingBox()) ?? { width: 0, height: 0 }
    // 20 minutes; the highest bar, of 10 requests, leaves a tenth free above it.
    await plot.click({ position: { x: (width * 10.5) / 20, y: whole * (1 - height / 11) } })
    await page.waitForURL('**/console/log?*')
  }
  await clickAt(8.5)
  expect(filtersOf(page)).toEqual({ outcome: ['failed'], ...minute })
  await page.getByText('3 requests match').waitFor()
  await page.goBack()
  await clickAt(3)
  expect(filtersOf(page)).toEqual({ outcome: ['succeeded'], ...minute })
  await page.goBack()
  await clickAt(10.6)
  expect(filtersOf(page)).toEqual(minute)
  await page.getByText('10 requests match').waitFor()
  await page.goBack()
  await plot.hover({ position: { x: 5, y: 20 } })
  const box = await plot.boundingBox()
  if (box === null) throw new Error('the chart is not in sight')
  await page.mouse.move(box.x + (box.width * 8.5) / 20, box.y + 20)
  await page.mouse.down()
  await page.mouse.move(box.x + (box.width * 11.5) / 20, box.y + 20, { steps: 5 })
  await page.mouse.up()
  await expect
    .poll(() => filtersOf(page))
    .toEqual({ from: [at(busy - 2 * minuteMs)], to: [at(busy + 2 * minuteMs)] })
})

test('without a mouse: the arrow keys tell each bar, Enter opens its requests, and the names of the legend are links', async () => {
  const page = await open(`/console?${range}`)
  const chart = page.getByRole('slider', { name: 'Requests by outcome' })
  await chart.focus()
  await page.keyboard.press('Home')
  for (let step = 0; step < 10; step++) await page.keyboard.press('ArrowRight')
  await expect.poll(() => chart.getAttribute('aria-valuetext')).toContain('succeeded 6, refused 1, failed 3')
  await axe(page)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/log?*')
  expect(filtersOf(page)).toEqual(minute)
  await page.goBack()
  await page
    .getByRole('region', { name: 'Requests by outcome' })
    .getByRole('link', { name: 'refused' })
    .press('Enter')
  await page.getByText('1 request matches').waitFor()
})

test('errors appear in groups with their counts, their times and what clients were told, and lead to their requests', async () => {
  const page = await open(`/console?${range}`)
  const errors = page.getByRole('region', { name: 'Errors by kind' })
  const group = errors.getByRole('row').filter({ hasText: 'upstream_error: 500' })
  await group.getByText('The engine <b>stalled</b>.').waitFor()
  expect(await group.getByRole('cell').allInnerTexts()).toEqual([
    '/v1/chat/completions',
    'scripted',
    expect.stringMatching(/^3\b/),
    expect.stringMatching(/\d\d:10:00/),
    expect.stringMatching(/\d\d:10:00/),
  ])
  expect(await errors.getByRole('rowheader').count()).toBe(3)
  await group.getByRole('link', { name: 'upstream_error: 500', exact: true }).click()
  await page.getByText('3 requests match').waitFor()
  await page.goBack()
  await errors.getByRole('link', { name: 'the last request with rate_limited' }).click()
  await page.getByRole('complementary', { name: 'The row that is open' }).getByText('429').first().waitFor()
})

test('a member sees the errors of its own tenant, without channels', async () => {
  const { cookie } = await join(adminClient(bed.gateway.url), owner.cookie, {
    email: 'member@example.com',
    role: 'member',
    tenant_id: tenants.free ?? '',
  })
  const [name = '', value = ''] = cookie.split('=')
  const page = await bed.page()
  await page.context().addCookies([{ name, value, url: bed.gateway.url, httpOnly: true, sameSite: 'Lax' }])
  await page.goto(`/console?${range}&tab=channels`)
  await page.getByRole('tab', { name: 'Models', selected: true }).waitFor()
  const errors = page.getByRole('region', { name: 'Errors by kind' })
  await errors.getByRole('link', { name: 'upstream_error', exact: true }).waitFor()
  expect(await errors.getByRole('rowheader').count()).toBe(2)
  expect(await errors.getByRole('columnheader', { name: 'Channel' }).count()).toBe(0)
  await page.getByRole('slider', { name: 'Spend by model' }).waitFor()
  await page.getByRole('slider', { name: 'Requests by outcome' }).waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  // Four of ten requests went wrong, though no rule says so.
  await page.getByText('40% of 10 requests were refused or failed.').waitFor()
  for (const calm of ['All well', 'No alert is open', 'No problem now'])
    expect(await page.getByText(calm).count(), calm).toBe(0)
  expect(await page.getByRole('button', { name: 'All tenants' }).count()).toBe(0)
  await errors.getByRole('link', { name: 'upstream_error', exact: true }).click()
  await page.getByText('3 requests match').waitFor()
})

test('an operator chooses the tenant of all numbers, which is in the address', async () => {
  const page = await open(`/console?${range}`)
  await page.getByRole('link', { name: 'Requests: 11.' }).waitFor()
  await page.getByRole('button', { name: 'All tenants' }).click()
  await page.getByRole('textbox', { name: 'Search tenants' }).fill('pai')
  await page.getByRole('button', { name: 'paid' }).click()
  await page.waitForURL(`**/console?*tenant_id=${tenants.paid}`)
  await page.getByRole('link', { name: 'Requests: 1.' }).waitFor()
  await page.getByRole('tab', { name: 'Channels' }).click()
  await page.getByRole('rowheader', { name: /^scripted/ }).waitFor()
  await axe(page)
  const second = await open(page.url())
  await second.getByRole('link', { name: 'Requests: 1.' }).waitFor()
  await second.getByRole('button', { name: 'paid' }).click()
  await second.getByRole('button', { name: 'All tenants' }).click()
  await second.getByRole('link', { name: 'Requests: 11.' }).waitFor()
  expect(filtersOf(second)).not.toHaveProperty('tenant_id')
})

test('the banner is green only where an alert rule would say otherwise and the errors are few', async () => {
  const calm = `from=${at(busy - 60 * minuteMs)}&to=${at(busy - 30 * minuteMs)}`
  const erring = await open(`/console?${range}`)
  await erring.getByText('45.5% of 11 requests were refused or failed.').waitFor()
  await erring.getByRole('link', { name: 'Errors in the log' }).click()
  await erring.getByText('5 requests match').waitFor()
  const page = await open(`/console?${calm}`)
  await page.getByText('No problem now. No alert rule is enabled').waitFor()
  expect(await page.getByText('All well').count()).toBe(0)
  const rule = { name: 'down', condition: { kind: 'channel_down' } }
  expect((await owner.call('POST', 'alerts', rule)).status).toBe(201)
  await page.reload()
  await page.getByText('All well').waitFor()
  await page.goto(`/console?${range}`)
  await page.getByText('45.5% of 11 requests were refused or failed.').waitFor()
  expect(await page.getByText('All well').count()).toBe(0)
})

const everyPart = /\/admin\/v1\/(summary|requests|health|alerts)/
const problem = {
  status: 500,
  contentType: 'application/problem+json',
  headers: { 'x-request-id': '01998d20-0000-7000-8000-00000000000a' },
  body: JSON.stringify({
    status: 500,
    code: 'internal',
    title: 'The gateway failed',
    detail: 'A part of it is broken.',
  }),
}

test.each([
  ['no answer at all', undefined],
  ['an error from every part', problem],
] as const)(
  '%s is said once, with what to do, and "Try again" brings the page back',
  async (_name, answer) => {
    const page = await bed.page({ forgives: /Failed to load resource/ })
    await bed.signIn(page)
    await page.route(everyPart, (route) => (answer === undefined ? route.abort() : route.fulfill(answer)))
    await page.goto(`/console?${range}`)
    const alerts = page.getByRole('alert')
    await alerts.getByText('Nothing on this page could be read').waitFor()
    expect(await alerts.count()).toBe(1)
    if (answer === undefined)
      await alerts.getByText('Is it running, and does the network reach it?').waitFor()
    else await alerts.getByRole('button', { name: 'Copy the request id' }).waitFor()
    await axe(page)
    await page.unroute(everyPart)
    await alerts.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'Requests: 11.' }).waitFor()
    await page
      .getByRole('region', { name: 'Errors by kind' })
      .getByText('rate_limited', { exact: true })
      .first()
      .waitFor()
    expect(await alerts.count()).toBe(0)
  },
)

test('one part that fails says so alone', async () => {
  const page = await bed.page({ forgives: /Failed to load resource/ })
  await bed.signIn(page)
  await page.route('**/admin/v1/requests/errors?*', (route) => route.fulfill(problem))
  await page.goto(`/console?${range}`)
  await page.getByRole('alert').getByText('The errors: the gateway failed').waitFor()
  await page.getByRole('link', { name: /^Requests: 11/ }).waitFor()
  await page.getByRole('slider', { name: 'Requests by outcome' }).waitFor()
  expect(await page.getByRole('alert').count()).toBe(1)
})

test.each([
  { name: 'light and wide', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { name: 'dark and on a phone', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const)('with errors the overview can be read by everybody: $name', async ({ viewport, colorScheme }) => {
  const page = await open(`/console?${range}`, { viewport, colorScheme })
  await page
    .getByRole('region', { name: 'Errors by kind' })
    .getByText('rate_limited', { exact: true })
    .first()
    .waitFor()
  await page.locator('canvas').nth(2).waitFor()
  await axe(page)
  await fitsSideways(page)
})

test('the first page of the console is less than 250 KB, with its charts', async () => {
  const page = await open(`/console?${range}`)
  await page
    .getByRole('region', { name: 'Errors by kind' })
    .getByText('rate_limited', { exact: true })
    .first()
    .waitFor()
  await page.locator('canvas').nth(2).waitFor()
  const bytes = await page.evaluate<number>(
    `performance.getEntriesByType('resource')
      .filter(({ name }) => /\\/assets\\/.*\\.(js|css)$/.test(name))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  )
  expect(bytes).toBeGreaterThan(100_000)
  expect(bytes).toBeLessThan(250_000)
})
