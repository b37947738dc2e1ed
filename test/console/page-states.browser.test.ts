import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, type BrowserBed, fitsSideways, startBrowser } from '../support/browser.ts'

/** Pages whose answer is late, fails or is empty, and pages on a phone. */

let bed: BrowserBed
beforeAll(async () => {
  bed = await startBrowser()
  await bed.makeOwner()
})
afterAll(() => bed?.close())

const phone = { viewport: { width: 390, height: 844 } }

test('a page that asks again and again keeps its first error in sight until the gateway answers', async () => {
  const page = await bed.page({ forgives: /status of 500/ })
  await bed.signIn(page)
  let asked = 0
  await page.route('**/admin/v1/ledger', (route) => {
    asked += 1
    return route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      body: JSON.stringify({ status: 500, code: 'internal', title: 'Failed', detail: 'The disk is full.' }),
    })
  })
  await page.goto('/console/ledger')
  await page.getByText('The disk is full.').waitFor()
  // The processes, beside it, are asked again every 2 s; the ledger waits for the reader.
  await page.waitForResponse('**/admin/v1/health')
  await page.waitForResponse('**/admin/v1/health')
  expect(asked).toBe(1)
  expect(await page.getByText('The disk is full.').isVisible()).toBe(true)
  await axe(page)
  await page.unroute('**/admin/v1/ledger')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Postgres has every row.').waitFor()
  expect(await page.getByText('The disk is full.').count()).toBe(0)
})

test('while the gateway does not say who is signed in, the page is not a white sheet', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  let answer = () => {}
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/admin/v1/session', async (route) => {
    await held
    await route.continue()
  })
  await page.goto('/console/keys')
  await page.getByRole('status', { name: 'Loading' }).waitFor()
  answer()
  await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
})

test('charts wait in their own shape: an axis with nothing on it would say that nothing happened', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  let answer = () => {}
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/admin/v1/summary/timeline**', async (route) => {
    await held
    await route.continue()
  })
  await page.goto('/console')
  await page.getByRole('heading', { name: 'Requests by outcome' }).waitFor()
  await page.getByText('First token, median').waitFor()
  expect(await page.locator('canvas').count()).toBe(0)
  answer()
  await page.locator('canvas').nth(2).waitFor()
})

test('on a phone the buttons of a page stay above a list that is longer than the screen', async () => {
  const page = await bed.page({ viewport: { width: 390, height: 320 } })
  await bed.signIn(page)
  await page.goto('/console/keys')
  await page.getByRole('grid').getByRole('row').nth(1).waitFor()
  const button = await page.getByRole('button', { name: 'Make key' }).boundingBox()
  const search = await page.getByLabel('Search, or paste a secret').boundingBox()
  expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(search?.y ?? 0)
})

test('on a phone the filters of a list wait behind a button, which says whether one is set', async () => {
  const page = await bed.page(phone)
  await bed.signIn(page)
  await page.goto('/console/keys')
  const button = page.getByRole('button', { name: 'Filters', exact: true })
  await button.waitFor()
  expect(await page.getByLabel('Search, or paste a secret').isVisible()).toBe(true)
  expect(await page.getByRole('combobox', { name: 'State' }).count()).toBe(0)
  await button.click()
  await page.getByRole('combobox', { name: 'State' }).click()
  await page.getByRole('option').nth(1).click()
  await page.getByRole('button', { name: 'Hide filters' }).click()
  await page.getByRole('button', { name: 'Filters (set)' }).waitFor()
  await axe(page)
  await fitsSideways(page)
})

test.each(['jobs', 'log', 'alerts'])(
  'the empty page of %s teaches within the width of a phone',
  async (name) => {
    const page = await bed.page(phone)
    await bed.signIn(page)
    await page.goto(`/console/${name}`)
    const heading = page.getByRole('heading', { level: 2, name: /^(No|Nobody) / })
    await heading.waitFor()
    const box = await heading.locator('..').boundingBox()
    expect(box === null ? 0 : box.x + box.width).toBeLessThanOrEqual(390)
    await fitsSideways(page)
  },
)

test('on a phone the tools of the log wait behind a button, so that rows begin high on the page', async () => {
  const page = await bed.page(phone)
  await bed.signIn(page)
  const answer = await bed.chat({ model: 'main', messages: [{ role: 'user', content: 'Hi' }] })
  await answer.text()
  await bed.row(answer.headers.get('x-request-id') ?? '')
  await page.goto('/console/log')
  const grid = page.getByRole('grid', { name: 'Requests' })
  await grid.waitFor()
  const tools = page.getByRole('button', { name: 'Tools' })
  expect(await page.getByRole('button', { name: 'Export' }).count()).toBe(0)
  const folded = (await grid.boundingBox())?.y ?? 0
  await tools.click()
  await page.getByRole('button', { name: 'Export' }).waitFor()
  await page.getByRole('textbox', { name: 'Search the log' }).fill('status:200')
  await page.keyboard.press('Enter')
  await axe(page)
  await fitsSideways(page)
  expect((await grid.boundingBox())?.y ?? 0).toBeGreaterThan(folded + 80)
  await page.getByRole('button', { name: 'Hide tools' }).click()
  await page.getByRole('button', { name: 'Tools (filters set)' }).waitFor()
})

test('a page whose file an upgrade has taken away loads itself again once, and then tells its fault', async () => {
  const page = await bed.page({ forgives: /404|dynamically imported/ })
  await bed.signIn(page)
  const gone = /\/assets\/ledger-page-[^/]*\.js$/
  await page.route(gone, (route) => route.fulfill({ status: 404, body: '' }))
  await page.goto('/console')
  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  await page.getByRole('link', { name: 'Ledger' }).click()
  await page.getByText('This page has a fault').waitFor()
  expect(loads).toBe(1)
  await page.unroute(gone)
  await page.reload()
  await page.getByText('Postgres has every row.').waitFor()
})
