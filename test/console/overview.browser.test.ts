import { readFile } from 'node:fs/promises'
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

/** The names of the rows of the table. */
async function rowsOf(page: Page): Promise<string[]> {
  const heads = page.getByRole('region', { name: /^Sums by/ }).getByRole('rowheader')
  return (await heads.allInnerTexts()).map((text) => text.replace(/\s+(filter)?\s*(log)?$/, ''))
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
    Channels: ['scripted', 'No channel'],
    Tenants: ['free', 'paid'],
    Keys: ['free / no key', 'paid / no key'],
    Groups: ['No group'],
    Days: [at(busy).slice(0, 10)],
  }
  const page = await open(`/console?${range}`)
  const shown = () => rowsOf(page)
  await expect.poll(shown).toEqual(own.Models)
  for (const title of [
    'Channels',
    'Tenants',
    'Keys',
    'Groups',
    'Models',
    'Days',
    'Keys',
    'Channels',
    'Tenants',
    'Models',
  ]) {
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
  await page.getByRole('link', { name: 'Log of paid' }).click()
  await page.getByText('1 request matches').waitFor()
  expect(filtersOf(page)).toMatchObject({ tenant_id: [tenants.paid] })
  await page.goBack()
  await page.getByRole('link', { name: 'errors of free' }).click()
  await page.getByText('4 requests match').waitFor()
})

test('a click on a part of a bar leads to its requests, above the bar to all of its minute; a drag chooses a time', async () => {
  const page = await open(`/console?${range}`)
  const plot = page.locator('section[aria-label="Requests by outcome"] .u-over')
  const clickAt = async (height: number) => {
    const { width, height: whole } = (await plot.boundingBox()) ?? { width: 0, height: 0 }
    // 20 minutes; the highest bar, of 10 requests, leaves a little free above it.
    await plot.click({ position: { x: (width * 10.5) / 20, y: whole * (1 - height / 10.8) } })
    await page.waitForURL('**/console/log?*')
  }
  await clickAt(8.5)
  expect(filtersOf(page)).toEqual({ outcome: ['failed'], ...minute })
  await page.getByText('3 requests match').waitFor()
  await page.goBack()
  await clickAt(3)
  expect(filtersOf(page)).toEqual({ outcome: ['succeeded'], ...minute })
  await page.goBack()
  await clickAt(10.5)
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
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => chart.getAttribute('aria-valuetext')).toContain('chosen: refused')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/log?*')
  expect(filtersOf(page)).toEqual({ outcome: ['refused'], ...minute })
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
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  expect(await page.getByRole('radiogroup', { name: 'Part' }).textContent()).toBe('ModelKeyGroup')
  await page.keyboard.press('Escape')
  await errors.getByRole('link', { name: 'upstream_error', exact: true }).click()
  await page.getByText('3 requests match').waitFor()
})

/** Chooses in the menu of filters. */
async function filterBy(page: Page, part: string, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('radiogroup', { name: 'Part' }).getByText(part, { exact: true }).click()
  const words = page.getByRole('textbox', { name: `Search by name: ${part.toLowerCase()}` })
  await words.fill(name.slice(0, 3))
  await page.getByRole('button', { name: new RegExp(`^${name}\\b`) }).click()
}

test('a filter narrows cards, charts, tables and ways into the log; it is in the address, and can be taken out', async () => {
  const page = await open(`/console?${range}`)
  await page.getByRole('link', { name: 'Requests: 11.' }).waitFor()
  await filterBy(page, 'Tenant', 'paid')
  await page.waitForURL(`**/console?*tenant_id=${tenants.paid}`)
  await page.getByRole('link', { name: 'Requests: 1.' }).waitFor()
  await filterBy(page, 'Channel', 'scripted')
  await page.getByRole('list', { name: 'Filters' }).getByText('Channel: scripted').waitFor()
  await page.getByRole('tab', { name: 'Channels' }).click()
  await expect.poll(() => rowsOf(page)).toEqual(['scripted'])
  const chart = page.getByRole('region', { name: 'Requests by outcome' })
  await expect.poll(() => chart.getByRole('link').allInnerTexts()).toEqual(['failed'])
  expect(await page.getByRole('region', { name: 'Errors by kind' }).getByRole('rowheader').count()).toBe(1)
  // No minutes are kept by tenant: the page says why its bars are hours.
  await page.getByText('Bars are hours: minutes are kept by channel alone.').waitFor()
  await axe(page)
  const second = await open(page.url())
  await second.getByRole('link', { name: 'Requests: 1.' }).click()
  await second.getByText('1 request matches').waitFor()
  expect(filtersOf(second)).toMatchObject({ channel: ['scripted'], tenant_id: [tenants.paid] })
  await page.getByRole('button', { name: 'Remove the filter Tenant: paid' }).click()
  await page.getByRole('link', { name: 'Requests: 10.' }).waitFor()
  await page.getByRole('button', { name: 'Remove the filter Channel: scripted' }).click()
  await page.getByRole('link', { name: 'Requests: 11.' }).waitFor()
  expect(filtersOf(page)).not.toHaveProperty('tenant_id')
})

test('what is filtered by a row of the table or by the model is what the API answers', async () => {
  const page = await open(`/console?${range}`)
  await page.getByRole('button', { name: 'Filter by main' }).click()
  await page.waitForURL(/[?&]model=main/)
  await page.getByRole('list', { name: 'Filters' }).getByText('Model: main').waitFor()
  const { body } = await owner.call('GET', `summary?${range}&model=main&limit=1`)
  await page.getByRole('link', { name: `Requests: ${body.total.requests}.` }).click()
  await page.getByText(`${body.total.requests} requests match`).waitFor()
  expect(filtersOf(page)).toMatchObject({ requested_model: ['main'] })
})

test('every tab in every order shows what the API answers, and exports just that', async () => {
  const page = await open(`/console?${range}`)
  const orders = {
    Requests: 'requests',
    Errors: 'errors',
    'Total, p95': 'latency',
    Tokens: 'tokens',
    Spend: 'cost',
  }
  const tabs = {
    Models: 'model',
    Channels: 'channel',
    Tenants: 'tenant',
    Keys: 'tenant,key',
    Groups: 'group',
    Days: 'day',
  }
  for (const [title, by] of Object.entries(tabs)) {
    await page.getByRole('tab', { name: title }).click()
    for (const [order, key] of Object.entries(orders)) {
      const table = page.getByRole('region', { name: /^Sums by/ })
      const head = table.getByRole('columnheader', { name: new RegExp(`^${order}( [↓↑])?$`) })
      const isSorted = async () => (await head.getAttribute('aria-sort')) ?? 'none'
      // Requests are the usual order; another tab keeps the order of the one before it.
      const isUsual = order === 'Requests' && title === 'Models'
      const turns = isUsual ? ['ascending', 'descending'] : ['descending', 'ascending']
      for (const turn of turns) {
        await head.getByRole('button').click()
        await expect.poll(isSorted).toBe(turn)
        const sort = `${turn === 'descending' ? '-' : ''}${key}`
        const { body } = await owner.call('GET', `summary?${range}&group_by=${by}&sort=${sort}&limit=20`)
        const requests = body.data.map((row: { requests: number }) => String(row.requests))
        const cells = page.getByRole('region', { name: /^Sums by/ }).locator('tbody tr td:nth-of-type(1)')
        await expect.poll(() => cells.allInnerTexts()).toEqual(requests)
      }
    }
    const file = page.waitForEvent('download')
    await page.getByRole('link', { name: `Export CSV: ${title}` }).click()
    const lines = (await readFile(await (await file).path(), 'utf8')).trimEnd().split('\r\n')
    const { body } = await owner.call('GET', `summary?${range}&group_by=${by}`)
    expect(lines.length - 1).toBe(body.data.length)
    expect(lines[0]?.split(',')).toContain('cost_usd')
  }
})

test.each([
  { name: 'on a screen', viewport: { width: 1280, height: 800 } },
  { name: 'on a phone', viewport: { width: 390, height: 844 } },
])('nothing moves while the page loads, whichever answer comes last: $name', async ({ viewport }) => {
  const page = await bed.page({ viewport })
  await bed.signIn(page)
  await page.addInitScript(
    `window.moved = 0
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) moved += value
    }).observe({ type: 'layout-shift', buffered: true })`,
  )
  for (const last of [/summary\?/, /timeline\?/, /requests\/errors/, /health/, /nothing/]) {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(last, async (route) => {
      await held
      await route.continue().catch(() => {})
    })
    await page.goto(`/console?${range}`)
    const hasCome = last.source.startsWith('summary') ? 'Compared with' : 'Errors'
    await page.getByText(hasCome).first().waitFor()
    release()
    await page.getByText('45.5% of 11 requests').first().waitFor()
    await page.locator('canvas').nth(2).waitFor()
    await page.getByRole('rowheader', { name: /^main/ }).waitFor()
    await page.getByRole('region', { name: 'Errors by kind' }).getByRole('rowheader').first().waitFor()
    expect(await page.evaluate('moved'), last.source).toBeLessThan(0.05)
    await page.unroute(last)
  }
})

test('channels that are down are one line with the requests that they hit, each once, and the way to them', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  const { body: health } = await owner.call('GET', 'health')
  const [first] = health.channels
  const down = ['eu', 'us', 'asia'].map((name) => ({
    ...first,
    id: `01998d20-0000-7000-8000-0000000000${name === 'eu' ? '01' : name === 'us' ? '02' : '03'}`,
    name: `openai-${name}`,
  }))
  const problems = down.map(({ name }) => ({
    severity: 'bad',
    what: 'The breaker of the channel is open: upstream_overloaded 529',
    where: `channel ${name}`,
    since: at(busy),
  }))
  await page.route('**/admin/v1/health', (route) =>
    route.fulfill({
      json: { ...health, status: 'problems', channels: [...health.channels, ...down], problems },
    }),
  )
  await page.route('**/admin/v1/alerts/episodes?*', (route) =>
    route.fulfill({
      json: {
        data: ['openai-eu', 'openai-us', 'main'].map((name, n) => episodeOf(name, n)),
        next_cursor: null,
      },
    }),
  )
  await page.route(/summary\?group_by=channel/, (route) =>
    route.fulfill({
      json: {
        data: down.map(({ name }, n) => ({ channel: name, errors: n + 1, requests: 9 })),
        total: {},
        other: null,
      },
    }),
  )
  await page.goto(`/console?${range}`)
  const wrong = page.getByRole('region', { name: 'What is wrong' })
  await wrong.getByText('3 channels are down: openai-eu, openai-us, openai-asia.').waitFor()
  await wrong.getByText('6 requests failed in the last 15 minutes.').waitFor()
  expect(await wrong.getByRole('alert').count()).toBe(1)
  expect(await wrong.getByRole('status').count()).toBe(0)
  await axe(page)
  await wrong.getByRole('button', { name: '2 more' }).click()
  expect(
    (await wrong.getByRole('listitem').allInnerTexts()).filter((text) => text.startsWith('openai-')),
  ).toHaveLength(3)
  await wrong.getByText('Alert rule main: model main fails.').first().waitFor()
  await wrong.getByRole('link', { name: 'Alert rule openai-eu of openai-eu' }).waitFor()
  expect(await wrong.getByRole('link', { name: 'Health of openai-eu' }).count()).toBe(1)
  await axe(page)
  await wrong.getByRole('link', { name: 'Errors of these 3' }).click()
  await page.waitForURL('**/console/log?*')
  expect(filtersOf(page)).toMatchObject({ channel: ['openai-eu', 'openai-us', 'openai-asia'], last: ['15m'] })
})

function episodeOf(name: string, n: number) {
  return {
    id: `01998d20-0000-7000-8000-00000000001${n}`,
    rule: { id: `01998d20-0000-7000-8000-00000000002${n}`, name: `rule ${name}`, kind: 'channel_down' },
    name: name.startsWith('openai') ? `channel ${name}` : `model ${name}`,
    state: 'open',
    opened_at: at(busy),
    unheld_since: null,
    summary: name.startsWith('openai') ? `channel ${name}: its breaker is open` : `model ${name} fails.`,
    acknowledged: null,
    deliveries: [],
  }
}

test('the cards are one row on a screen, with a scroll bar too, and few stops of the tab key are before the tables', async () => {
  const page = await open(`/console?${range}`)
  // A classic scroll bar takes 17 px at most.
  await page.evaluate(`document.querySelector('main').style.paddingRight = '17px'`)
  await page.getByRole('link', { name: 'Requests: 11.' }).waitFor()
  await page.locator('canvas').nth(2).waitFor()
  const tops = await page.evaluate<number[]>(
    `[...document.querySelectorAll('main dl > div')].map((card) => Math.round(card.getBoundingClientRect().top))`,
  )
  expect(tops).toHaveLength(6)
  expect(new Set(tops).size).toBe(1)
  const plots = await page.evaluate<string[]>(
    `[...document.querySelectorAll('main .u-over')].map((plot) => { const { top, height } = plot.getBoundingClientRect(); return [top, height].join() })`,
  )
  expect(plots).toHaveLength(3)
  expect(new Set(plots).size).toBe(1)
  const stops = await page.evaluate<number>(
    `(() => {
      const table = document.querySelector('main table')
      return [...document.querySelectorAll('main :is(a, button, input, [tabindex])')].filter((each) => each.tabIndex >= 0 && each.compareDocumentPosition(table) & Node.DOCUMENT_POSITION_FOLLOWING && !each.contains(table)).length
    })()`,
  )
  expect(stops).toBeLessThanOrEqual(16)
})

test('the banner is green only where an alert rule would say otherwise and the errors are few', async () => {
  const calm = `from=${at(busy - 60 * minuteMs)}&to=${at(busy - 30 * minuteMs)}`
  const erring = await open(`/console?${range}`)
  await erring.getByText('45.5% of 11 requests were refused or failed.').waitFor()
  await erring.getByRole('link', { name: 'Errors in the log' }).click()
  await erring.getByText('5 requests match').waitFor()
  const page = await open(`/console?${calm}`)
  await page.getByText('No problem now. No alert rule watches.').waitFor()
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

test('the first page of the console is less than 260 KB, with its charts', async () => {
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
  expect(bytes).toBeLessThan(260_000)
})
