import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filterFields } from '../../console/src/pages/log/log-filters.ts'
import { axe, type BrowserBed, listsFit, type Owner, startBrowser } from '../support/browser.ts'
import { gatewayYaml } from '../support/gateway-yaml.ts'

/** The tools of the log: its columns, menus, tabs and sorts. What they show is what the API answers. */

let bed: BrowserBed
let owner: Owner
let newest: string

beforeAll(async () => {
  bed = await startBrowser({
    yaml: (url) =>
      gatewayYaml(url).replace(
        '{ name: free, group: default,',
        '{ name: free, capture: content, group: default,',
      ),
  })
  owner = await bed.makeOwner()
  for (const model of ['main', 'main', 'nowhere', 'main']) {
    const answer = await bed.chat(
      { model, messages: [{ role: 'user', content: `To ${model}` }] },
      { headers: { 'x-tollgate-session': 'run-7', 'x-tollgate-tags': 'night' } },
    )
    await answer.text()
    newest = answer.headers.get('x-request-id') ?? ''
    await bed.row(newest)
  }
  const at = new Date(Date.now() - 60_000)
  await bed.database.sql`
    insert into requests ${bed.database.sql({
      ...{
        id: idAt(at.getTime()),
        created_at: at,
        endpoint: '/v1/chat/completions',
        requested_model: 'main',
      },
      ...{ stream: true, status: 529, outcome: 'failed', usage_source: 'none', attempt_count: 1 },
      ...{ error_kind: 'upstream_overloaded', error_message: 'Overloaded', total_ms: 90_000 },
    })}`
})
afterAll(() => bed?.close())

function idAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001`
}

async function openLog(address = '/console/log', options = {}): Promise<Page> {
  const page = await bed.page(options)
  await bed.signIn(page)
  await page.goto(address)
  await gridOf(page).waitFor()
  return page
}

const gridOf = (page: Page) => page.getByRole('grid', { name: 'Requests' })
const sheetOf = (page: Page) => page.getByRole('complementary', { name: 'The row that is open' })
const rowsOf = (page: Page) =>
  gridOf(page)
    .getByRole('row')
    .filter({ has: page.getByRole('gridcell') })
const asked = async (query: string) => (await owner.call('GET', `requests?${query}`)).body.data
const headsOf = (page: Page) => gridOf(page).getByRole('columnheader').allTextContents()
const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.getAttribute("aria-label") ?? document.activeElement.tagName')

test('the status stands whole at 1280, and beside an open row there are time, model, status and cost', async () => {
  const page = await openLog()
  await listsFit(page)
  const isWhole = () =>
    page.evaluate<boolean>(
      `[...document.querySelectorAll('[role=gridcell][data-column=status]')]
        .filter(({ textContent }) => textContent === '529 upstream_overloaded')
        .some((cell) => cell.scrollWidth <= cell.clientWidth)`,
    )
  expect(await isWhole()).toBe(true)
  expect(await gridOf(page).getAttribute('aria-rowcount')).toBe('6')
  await page.getByText('All 5 requests of this time').waitFor()
  await axe(page)

  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await sheetOf(page).getByRole('tab', { name: 'Request' }).waitFor()
  expect((await headsOf(page)).map((head) => head.trim())).toEqual(['Time', 'Model', 'Status', 'Cost'])
  expect(await isWhole()).toBe(true)
  expect(await focused(page)).toBe('Requests')
  await axe(page)
  await sheetOf(page).getByRole('button', { name: 'Close' }).click()
  await sheetOf(page).waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('Requests')
  expect(await headsOf(page)).toHaveLength(10)
})

test('the tabs of a row stand under its cost, show what the API answers, and stay chosen in the next row', async () => {
  const { body: row } = await owner.call('GET', `requests/${newest}`)
  const page = await openLog(`/console/log/${newest}`)
  const sheet = sheetOf(page)
  await sheet.getByText('content: To main').waitFor()
  expect(JSON.parse(row.body).messages[0].content).toBe('To main')
  await sheet.getByRole('tab', { name: 'Answer' }).click()
  await sheet.getByText(/The answer is not kept/).waitFor()
  expect(row.answer).toBeNull()
  await sheet.getByRole('tab', { name: /^Notes/ }).click()
  expect(row.notes).toEqual([])
  await sheet.getByText('Nothing of the request was translated').waitFor()
  await sheet.getByRole('tab', { name: `Entries (${row.entries.length})` }).click()
  await expect.poll(() => sheet.getByRole('cell', { name: row.entries[0].kind }).count()).toBeGreaterThan(0)
  await sheet.getByRole('tab', { name: 'Properties' }).click()
  for (const value of [row.id, row.session, row.tags[0], row.key.name, row.channel])
    await sheet.getByText(value, { exact: true }).first().waitFor()
  await axe(page)
  await page.keyboard.press('j')
  await page.waitForURL((url) => !url.pathname.endsWith(newest))
  await sheet.getByRole('tab', { name: 'Properties', selected: true }).waitFor()
  await sheet.getByRole('button', { name: 'Leave out rows with nowhere', exact: true }).click()
  await page.waitForURL(/not_requested_model=nowhere/)
})

test('every filter of the menu leads to a form whose button nothing covers', async () => {
  const page = await openLog()
  const menu = page.getByRole('button', { name: 'Filter', exact: true })
  await menu.click()
  expect(await page.getByRole('option').allTextContents()).toEqual(filterFields.map(({ title }) => title))
  for (const { title } of filterFields) {
    if ((await page.getByRole('option').count()) === 0) await menu.click()
    await page.getByRole('option', { name: title, exact: true }).click()
    await page
      .getByRole('textbox', { name: title, exact: true })
      .or(page.getByRole('combobox', { name: title, exact: true }))
      .waitFor()
    await page.getByRole('button', { name: 'Apply filter' }).click({ trial: true })
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Apply filter' }).waitFor({ state: 'detached' })
  }
})

test('a filter is found and set with the keyboard alone', async () => {
  const page = await openLog()
  await page.getByRole('button', { name: 'Filter', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('combobox', { name: 'Filter to add' }).waitFor()
  await axe(page)
  await page.keyboard.type('error')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('combobox', { name: 'Error kind' }).waitFor()
  await page.keyboard.type('overl')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await axe(page)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/log?error_kind=upstream_overloaded')
  const found = await asked('error_kind=upstream_overloaded')
  await expect.poll(() => rowsOf(page).count()).toBe(found.length)
  await page.getByText('1 request of this time').waitFor()
})

test('the search field proposes filters, and then the values that are known', async () => {
  const page = await openLog()
  await page.keyboard.press('/')
  await page.keyboard.type('outcome:failed -cha')
  await page.getByRole('option', { name: '-channel: Channel' }).waitFor()
  await axe(page)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const [channel] = (await owner.call('GET', 'channels')).body.data
  await page.getByRole('option', { name: `-channel:${channel.name}` }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/log?outcome=failed&not_channel=${channel.name}`)
  await expect.poll(() => rowsOf(page).count()).toBe(1)
  // Escape closes the list, and only then leaves the field.
  await page.keyboard.type('mod')
  await page.getByRole('option').first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('option').first().waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('Search the log')
})

test.each(['cost', 'total_ms', 'first_token_ms'])(
  'the head for %s brings the greatest first',
  async (sort) => {
    const heads = { cost: 'Cost', total_ms: 'Total', first_token_ms: 'First token' } as const
    const page = await openLog()
    await page.getByRole('button', { name: heads[sort as keyof typeof heads], exact: true }).click()
    await page.waitForURL(`**/console/log?sort=-${sort}`)
    const rows = await asked(`sort=-${sort}`)
    await page.getByText(/requests with a/).waitFor()
    await expect.poll(() => rowsOf(page).count()).toBe(rows.length)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/console/log/${rows[0].id}*`)
  },
)

test('a filter that the gateway does not take is reported once', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/log?attempts=%3E%3D1')
  await page
    .getByText(/^attempts: expected a number/)
    .first()
    .waitFor()
  await page.locator('[aria-label=Loading]').waitFor({ state: 'detached' })
  expect(await page.getByRole('alert').count()).toBe(1)
})

test('an id of another time has no request, and only a fresh one has no row yet', async () => {
  const page = await openLog(`/console/log/${idAt(Date.now() - 86_400_000)}`)
  await sheetOf(page)
    .getByText(/^There is no such request. Check the id./)
    .waitFor()
  await page.goto('/console/log/0b6ad4d5-2c7a-4e0e-9d6c-3a8a3f1f7c11')
  await sheetOf(page)
    .getByText(/^There is no such request. Check the id./)
    .waitFor()
  await page.goto(`/console/log/${idAt(Date.now())}`)
  await sheetOf(page).getByText('It has no row yet. The page looks again.').waitFor()
  await axe(page)
})

test('the top values show the counts of the API; a click keeps a value, a second undoes it, and Alt leaves it out', async () => {
  const page = await openLog()
  let asks = 0
  page.on('request', (request) => {
    if (request.url().includes('/requests/facets')) asks += 1
  })
  await page.getByRole('button', { name: 'Top values' }).click()
  const panel = page.getByRole('region', { name: 'Values of the requests that match' })
  await panel.getByRole('button', { name: /^main/ }).waitFor()
  expect(asks).toBe(1)
  await axe(page)
  const { body } = await owner.call('GET', 'requests/facets?limit=6')
  for (const { filter, values } of body.data) {
    for (const { value, name, requests } of values) {
      const shown = `${name ?? value ?? 'none'} ${requests}`
      const query = `${filter}=${value ?? ''}`
      const button = panel.getByRole('button', { name: shown, exact: true }).first()
      await button.waitFor()
      expect(await asked(query), query).toHaveLength(requests)
    }
  }
  const main = panel.getByRole('button', { name: /^main \d/ })
  await main.click()
  await page.waitForURL('**/console/log?requested_model=main')
  await expect.poll(() => rowsOf(page).count()).toBe((await asked('requested_model=main')).length)
  await main.and(page.locator('[aria-pressed=true]')).click()
  await page.waitForURL('**/console/log')
  await main.click({ modifiers: ['Alt'] })
  await page.waitForURL('**/console/log?not_requested_model=main')
  await expect.poll(() => rowsOf(page).count()).toBe(1)
  await page.goBack()
  const [key] = (await owner.call('GET', 'keys?search=free')).body.data
  await panel.getByRole('button', { name: `Leave out Key ${key.name}` }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/log?not_key_id=${key.id}`)
  await page.getByRole('button', { name: `Remove the filter Key id ${key.name}` }).waitFor()
  await expect.poll(() => rowsOf(page).count()).toBe(1)
  await page.getByRole('button', { name: 'Top values' }).click()
  await panel.waitFor({ state: 'detached' })
})

test('a conversation has an address of its own, and each request says what it added', async () => {
  const turns = [
    { role: 'user', content: 'First question' },
    { role: 'assistant', content: 'First answer' },
    { role: 'user', content: 'Second question' },
  ]
  let last = ''
  for (const messages of [turns.slice(0, 1), turns]) {
    const answer = await bed.chat({ model: 'main', messages }, { headers: { 'x-tollgate-session': 'talk' } })
    await answer.text()
    last = answer.headers.get('x-request-id') ?? ''
    await bed.row(last)
  }
  const rows = await asked('session=talk&sort=created_at')
  const page = await openLog(`/console/log/${last}`)
  await sheetOf(page).getByRole('link', { name: 'Conversation: 2 requests' }).click()
  await page.waitForURL('**/console/conversation?session=talk&**')
  await page.getByText(/^2 requests, |^All 2 requests, /).waitFor()
  const items = page.getByRole('list').getByRole('listitem').filter({ hasText: 'Open the request' })
  expect(await items.count()).toBe(rows.length)
  const second = items.nth(1)
  await second.getByText('Second question').waitFor()
  await second.getByText('First answer').waitFor()
  expect(await second.getByText('First question').count()).toBe(0)
  await axe(page)
  await page.reload()
  await items.first().getByText('First question').waitFor()
  await items.first().getByRole('link', { name: 'Open the request' }).click()
  await page.waitForURL(`**/console/log/${rows[0].id}`)
})
