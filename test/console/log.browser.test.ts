import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { axe, type BrowserBed, fitsSideways, startBrowser } from '../support/browser.ts'
import { freeKey, gatewayYaml, paidKey } from '../support/gateway-yaml.ts'
import { until } from '../support/until.ts'
import { planByModel } from '../support/upstream-plans.ts'

/** It would run if a page showed it as HTML. */
const hostile = `"><img src=x onerror="window.isHurt = true"><script>window.isHurt = true</script>`

let bed: BrowserBed
let good: string
let refused: string

beforeAll(async () => {
  // Bodies are kept, so that pages show what clients have written.
  bed = await startBrowser({
    yaml: (url) =>
      gatewayYaml(url).replace(
        '{ name: free, group: default,',
        '{ name: free, capture: content, group: default,',
      ),
  })
  await bed.makeOwner()
  const send = async (body: unknown) => {
    const response = await bed.chat(body, {
      headers: { 'user-agent': hostile, 'x-tollgate-tags': hostile.slice(0, 60), 'x-session-id': hostile },
    })
    await response.text()
    const id = response.headers.get('x-request-id') ?? ''
    await bed.row(id)
    return id
  }
  for (let sent = 0; sent < 5; sent++) {
    good = await send({ model: 'main', user: hostile, messages: [{ role: 'user', content: hostile }] })
  }
  refused = await send({ model: hostile, messages: hostile })
})
afterAll(() => bed?.close())

async function openLog(address = '/console/log'): Promise<Page> {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto(address)
  await page.getByRole('grid', { name: 'Requests' }).waitFor()
  return page
}

/** Rows in sight, without the head. */
function rowsOf(page: Page) {
  return page
    .getByRole('grid', { name: 'Requests' })
    .getByRole('row')
    .filter({ has: page.getByRole('gridcell') })
}

test('typed filters are the address; a second page shows the same, and back undoes them', async () => {
  const page = await openLog()
  await expect.poll(() => rowsOf(page).count()).toBe(6)
  await page.keyboard.press('/')
  await page.keyboard.type('status:4xx -model:main')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/log?status=4xx&not_model=main')
  await expect.poll(() => rowsOf(page).count()).toBe(1)
  await page.getByText('1 request matches').waitFor()

  const second = await openLog('/console/log?status=4xx&not_model=main')
  await expect.poll(() => rowsOf(second).count()).toBe(1)

  await page.goBack()
  await expect.poll(() => rowsOf(page).count()).toBe(6)
  await page.goForward()
  await expect.poll(() => rowsOf(page).count()).toBe(1)
  await page.getByRole('button', { name: 'Remove the filter Status 4xx' }).click()
  await page.waitForURL('**/console/log?not_model=main')
})

test('a request id that is typed opens its row, which has an address of its own', async () => {
  const page = await openLog()
  await page.getByLabel('Search the log').fill(refused)
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/log/${refused}`)
  await page.getByRole('complementary', { name: 'The row that is open' }).getByText('400').first().waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.waitForURL('**/console/log')
})

test('J and K go through the rows, each with its address, and Esc closes', async () => {
  const page = await openLog()
  await expect.poll(() => rowsOf(page).count()).toBe(6)
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/log/${refused}`)
  await page.keyboard.press('j')
  await page.waitForURL(`**/console/log/${good}`)
  await page.getByText('Attempt 1: scripted').waitFor()
  await page.keyboard.press('k')
  await page.waitForURL(`**/console/log/${refused}`)
  await page.keyboard.press('Escape')
  await page.waitForURL('**/console/log')
})

test('while a row is read, nothing of the former one appears beside its id', async () => {
  const page = await openLog(`/console/log/${good}`)
  const sheet = page.getByRole('complementary', { name: 'The row that is open' })
  await sheet.getByText('Cost', { exact: false }).first().waitFor()
  let answer = () => {}
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route(`**/admin/v1/requests/${refused}`, async (route) => {
    await held
    await route.continue()
  })
  await page.getByLabel('Search the log').fill(refused)
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/console/log/${refused}*`)
  await sheet.getByRole('status', { name: 'Loading' }).waitFor()
  expect(await sheet.getByRole('heading').first().textContent()).toBe('Request')
  answer()
  await sheet.getByText('400').first().waitFor()
})

test('F keeps rows with the value of the cell, and Shift+F leaves them out', async () => {
  const page = await openLog()
  await expect.poll(() => rowsOf(page).count()).toBe(6)
  await page.keyboard.press('j')
  // To the right: tenant and key, then the model.
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('f')
  await page.waitForURL('**/console/log?key=free')
  const second = await openLog()
  await expect.poll(() => rowsOf(second).count()).toBe(6)
  await second.keyboard.press('j')
  await second.keyboard.press('ArrowRight')
  await second.keyboard.press('Shift+F')
  await second.waitForURL('**/console/log?not_key=free')
  await second.getByText('No request of this time matches').waitFor()
})

test('what a client has sent is shown as text, in every column, tab and page', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  const columns = ['created_at', 'model', 'status', 'error', 'end_user', 'session', 'tag', 'user_agent']
  await page.addInitScript(`localStorage.setItem('tollgate-columns-log', '${JSON.stringify(columns)}')`)
  await page.goto(`/console/log/${good}`)
  const sheet = page.getByRole('complementary', { name: 'The row that is open' })
  await sheet.getByText('onerror').first().waitFor()
  for (const tab of ['Answer', /^Notes/, /^Entries/, 'Request']) {
    await sheet.getByRole('tab', { name: tab }).click()
  }
  await sheet.getByText('content: ').first().waitFor()
  await page.goto(`/console/log/${refused}`)
  await sheet.getByText('invalid_request').first().waitFor()
  for (const address of ['/console', '/console/keys', '/console/audit', `/console/playground?from=${good}`]) {
    await page.goto(address)
    await page.locator('main h1').first().waitFor()
    await until(async () => (await page.locator('[aria-label="Loading"]').count()) === 0)
  }
  await expect.poll(() => page.getByLabel('Text of message 1').inputValue()).toBe(hostile)
  expect(await page.evaluate('window.isHurt')).toBeUndefined()
})

test('an export has the rows that match; one that is refused becomes no file', async () => {
  const page = await openLog('/console/log?status=4xx')
  let asked = 0
  page.on('request', (request) => {
    if (request.url().includes('/requests/export?')) asked += 1
  })
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('menuitem', { name: /^CSV/ }).click()
  const csv = readFileSync(await (await download).path(), 'utf8')
  expect(csv.trim().split('\r\n')).toHaveLength(2)
  expect(csv).toContain(refused)
  expect(asked).toBe(1)

  await page.route('**/admin/v1/requests/export?*', (route) =>
    route.fulfill({
      status: 429,
      contentType: 'application/problem+json',
      body: '{"title":"Too many","detail":"Two exports run."}',
    }),
  )
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('menuitem', { name: /^CSV/ }).click()
  await page.getByText('Two exports run.').waitFor()
})

test('the copied command runs as it is where the shell has a key', async () => {
  const page = await bed.page({ permissions: ['clipboard-read', 'clipboard-write'] })
  await bed.signIn(page)
  await page.goto(`/console/log/${good}`)
  await page.getByRole('button', { name: 'Copy as curl' }).click()
  await page.getByText('Copied the command').waitFor()
  const command = await page.evaluate<string>('navigator.clipboard.readText()')
  const { stdout } = await promisify(execFile)('sh', ['-c', command], {
    env: { PATH: process.env.PATH, TOLLGATE_KEY: freeKey },
  })
  expect(JSON.parse(stdout)).toMatchObject({ object: 'chat.completion' })
})

test('live rows come by themselves, and wait while a row is open', async () => {
  const page = await openLog()
  await page.getByLabel('Live').check()
  const [{ before }] = await bed.database.sql<
    [{ before: number }]
  >`SELECT count(*)::int AS before FROM requests`
  await expect.poll(() => rowsOf(page).count()).toBe(before)
  const sent = await bed.chat({ model: 'main', messages: [{ role: 'user', content: 'live' }] })
  await bed.row(sent.headers.get('x-request-id'))
  await expect.poll(() => rowsOf(page).count()).toBe(before + 1)
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/log/*')
  const later = await bed.chat({ model: 'main', messages: [{ role: 'user', content: 'later' }] })
  await bed.row(later.headers.get('x-request-id'))
  await page.getByRole('button', { name: '1 new' }).click()
  await expect.poll(() => rowsOf(page).count()).toBe(before + 2)
  await page.getByText(`${before + 2} requests match`).waitFor()
})

test('while the gateway cannot read its log, Live says so, and no longer when it can', async () => {
  const page = await openLog()
  await page.getByLabel('Live').check()
  await bed.database.sql`ALTER TABLE noted_requests RENAME TO noted_elsewhere`
  try {
    await page.getByRole('alert').getByText('No rows come now.').waitFor()
    await axe(page)
  } finally {
    await bed.database.sql`ALTER TABLE noted_elsewhere RENAME TO noted_requests`
  }
  await page.getByText('No rows come now.').waitFor({ state: 'detached' })
})

test('a row that is charged for all the output that it allows says that nobody reported it', async () => {
  const leaving = new AbortController()
  bed.upstream.script(() => new Promise<never>(() => {}))
  onTestFinished(() => bed.upstream.script(planByModel))
  const messages = [{ role: 'user', content: 'left' }]
  const { length } = bed.upstream.requests
  const asked = bed.chat(
    { model: 'priced', max_tokens: 77, messages },
    { key: paidKey, signal: leaving.signal },
  )
  await until(() => bed.upstream.requests.length > length)
  leaving.abort()
  await asked.catch(() => 'left')
  const id = await until(async () => {
    const [row] = await bed.database.sql<{ id: string }[]>`SELECT id FROM requests WHERE output_tokens = 77`
    return row?.id
  })
  const page = await openLog(`/console/log/${id}`)
  const sheet = page.getByRole('complementary')
  await sheet.getByText('Cost at most').waitFor()
  await sheet.getByText('at most 77 tokens').waitFor()
  await sheet.getByText(/^The upstream reported no usage, so all the output/).waitFor()
})

test('three clicks from the log to the costliest request of yesterday', async () => {
  const noon = new Date()
  noon.setUTCHours(12, 0, 0, 0)
  const yesterday = noon.getTime() - 86_400_000
  const hex = yesterday.toString(16).padStart(12, '0')
  const stamp = new Date(yesterday).toISOString().slice(0, 10)
  await bed.database.sql.unsafe(`
    create table if not exists requests_${stamp.replaceAll('-', '')} partition of requests
      for values from ('${stamp}T00:00:00Z') to ('${noon.toISOString().slice(0, 10)}T00:00:00Z')`)
  const idOf = (n: number) => `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-00000000000${n}`
  for (const [n, cost] of [3_000_000n, 2_500_000_000n, 40_000n].entries())
    await bed.database.sql`
      insert into requests ${bed.database.sql({
        id: idOf(n),
        created_at: new Date(yesterday),
        endpoint: '/v1/chat/completions',
        requested_model: 'main',
        stream: false,
        status: 200,
        outcome: 'succeeded',
        usage_source: 'upstream',
        attempt_count: 1,
        cost_nano: String(cost),
      })}`
  const page = await openLog()
  await page.getByRole('button', { name: 'Last 24 hours' }).click()
  await page.getByRole('menuitem', { name: 'Yesterday' }).click()
  await expect.poll(() => rowsOf(page).count()).toBe(3)
  await page.getByRole('button', { name: 'Cost', exact: true }).click()
  await page.waitForURL('**/console/log?last=yesterday&sort=-cost')
  await page.getByText('All 3 requests with a cost').waitFor()
  await expect.poll(() => rowsOf(page).first().textContent()).toContain('$2.50')
  expect(await page.getByRole('switch', { name: 'Live' }).isDisabled()).toBe(true)

  // A link of it shows the same, and the head of the time brings the newest first again.
  const second = await openLog('/console/log?last=yesterday&sort=-cost')
  await expect.poll(() => rowsOf(second).first().textContent()).toContain('$2.50')
  await second.getByRole('button', { name: 'Time', exact: true }).click()
  await second.waitForURL('**/console/log?last=yesterday')
  await second.getByRole('switch', { name: 'Live' }).isEnabled()
})

/** A request in the Messages format, which the channel gets as a chat. */
async function sendTranslated(): Promise<string> {
  const tool = { name: 'weather', description: 'Says it', input_schema: { type: 'object', properties: {} } }
  const turns = Array.from({ length: 8 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `Turn ${at}`,
  }))
  const response = await fetch(`${bed.gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': freeKey, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({
      model: 'main',
      max_tokens: 10,
      top_k: 5,
      system: `${hostile} with the key sk-ant-api03-${'a1B2'.repeat(20)}`,
      messages: [...turns, { role: 'user', content: 'x'.repeat(2_000) }],
      tools: [tool],
    }),
  })
  await response.text()
  const id = response.headers.get('request-id') ?? ''
  await bed.row(id)
  return id
}

test.each([
  ['light', 1280],
  ['dark', 390],
] as const)(
  'a translated request appears beside its original, member by member: %s, %i wide',
  async (colorScheme, width) => {
    const id = await sendTranslated()
    const page = await bed.page({ viewport: { width, height: 844 }, colorScheme })
    await bed.signIn(page)
    await page.goto(`/console/log/${id}`)
    await page.getByText('Compared', { exact: true }).click()
    const compared = page.getByRole('region', { name: 'The request as sent and as the channel gets it' })
    await compared.getByText('moved to messages[0].content').waitFor()
    await compared.getByText('moved to tools[0].function.parameters').waitFor()
    await compared.getByText('added, with system').waitFor()
    await compared.getByText('top_k: ').waitFor()
    await compared.getByText(/^dropped: /).waitFor()
    await compared.getByText('upstream-main').waitFor()
    await compared.locator('mark', { hasText: '[REDACTED' }).first().waitFor()
    // All messages are the same, and folded.
    expect(await compared.getByText('Turn 3').count()).toBe(0)
    await compared.getByRole('button', { name: '18 unchanged members' }).click()
    await compared.getByText('Turn 3').waitFor()
    await compared.getByRole('button', { name: 'show 1.4 kB more' }).waitFor()
    expect(await page.evaluate('window.isHurt')).toBeUndefined()
    await axe(page)
    await fitsSideways(page)
  },
)
