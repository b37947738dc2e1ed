import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BrowserBed, fitsSideways, type Owner, startBrowser } from '../support/browser.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { reportBreaker } from '../support/report-breaker.ts'
import { until } from '../support/until.ts'

/** Names and texts that admins, clients and upstreams have chosen, where a page shows them. */

/** It would run if a page showed it as HTML, and leaves the page's frame where it is not broken. */
const hurt = '"><img src=x onerror="window.isHurt=true"><script>window.isHurt=true</script> \u202egnp.exe'
/** With a long word; at most 128 visible characters, as names must be. */
const named = (what: string) =>
  `${what} "><img src=x onerror=window.isHurt=true> javascript:alert(1) ${'long'.repeat(10)}`

let bed: BrowserBed
let owner: Owner
let asked: string
let addresses: string[]

beforeAll(async () => {
  const [tenant, group, channel] = ['tenant', 'group', 'channel'].map((what) => JSON.stringify(named(what)))
  bed = await startBrowser({
    env: { SITE_NAME: `<img src=x onerror=window.isHurt=true>` },
    yaml: (url) => `
models:
  - { id: main, price: { input: "1", output: "2" } }
  - { id: '*' }
  - { id: 'acme/<img src=x onerror=window.isHurt=true>', aliases: [ '"><script>window.isHurt=true</script>' ] }
  - { id: pictures, images: { sizes: [ '<b>1x1</b>' ] } }
channels:
  - name: ${channel}
    protocols: { openai-chat: ${url}, openai-images: ${url} }
    api_keys: [ "upstream-credential-0001" ]
    models: [ main, pictures, 'acme/<img src=x onerror=window.isHurt=true>' ]
    allow_private_address: true
groups:
  - { name: ${group}, description: ${group}, public: true, models: ['*'], channels: ['*'], capture_answers: true }
tenants:
  - { name: ${tenant}, keys: [ { name: ${JSON.stringify(named('key'))}, capture: content, group: ${group}, secret: ${freeKey} } ] }
`,
  })
  owner = await bed.makeOwner()
  bed.upstream.script(() => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: hurt,
      object: 'chat.completion',
      created: 1,
      model: hurt,
      choices: [{ index: 0, message: { role: 'assistant', content: hurt }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }),
  }))
  const answer = await bed.chat({ model: 'main', messages: [{ role: 'user', content: hurt }] })
  expect(await answer.text()).toContain('onerror')
  asked = answer.headers.get('x-request-id') ?? ''
  await bed.row(asked)
  bed.upstream.script(() => ({
    status: 400,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { message: hurt, type: hurt, code: hurt, param: hurt } }),
  }))
  const picture = await fetch(`${bed.gateway.url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'pictures', prompt: hurt, size: '<b>1x1</b>' }),
  })
  expect(await picture.text()).toContain('error')
  await bed.row(picture.headers.get('x-request-id') ?? '')

  const channels = await owner.call('GET', 'channels')
  const [found] = ((await channels.body) as { data: { id: string; name: string }[] }).data
  await reportBreaker(bed.database.sql, found?.id ?? '', 3, hurt)
  const rule = { name: named('rule'), condition: { kind: 'channel_down' } }
  const made = await owner.call('POST', 'alerts', rule)
  expect(made.status).toBe(201)
  const first = async (path: string) => {
    const { data } = (await (await owner.call('GET', path)).body) as { data: { id: string }[] }
    if (data[0] === undefined) throw new Error(`${path} has nothing`)
    return data[0].id
  }
  addresses = [
    '/console',
    '/console/log',
    `/console/log/${asked}`,
    `/console/log/${picture.headers.get('x-request-id')}`,
    '/console/jobs',
    `/console/jobs/${await first('image-jobs')}`,
    '/console/tenants',
    `/console/tenants/${await first('tenants')}`,
    '/console/keys',
    `/console/keys/${await first('keys')}`,
    '/console/groups',
    `/console/groups/${await first('groups')}`,
    '/console/channels',
    `/console/channels/${found?.id}`,
    '/console/models',
    `/console/models/${encodeURIComponent('acme/<img src=x onerror=window.isHurt=true>')}`,
    '/console/alerts',
    '/console/alerts?tab=rules',
    `/console/alerts/${await first('alerts')}?tab=rules`,
    '/console/audit',
    `/console/audit/${await first('audit')}`,
    '/console/settings?tab=file',
    '/console/set-up',
    `/console/playground?from=${asked}`,
    '/',
    '/models',
    `/models/${encodeURIComponent('acme/<img src=x onerror=window.isHurt=true>')}`,
    '/docs',
  ]
})
afterAll(() => bed?.close())

async function look(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await page.locator('h1').first().waitFor()
  await until(async () => (await page.locator('[aria-label="Loading"]').count()) === 0)
  expect(await page.evaluate('window.isHurt'), address).toBeUndefined()
  expect(await page.getByText('This page has a fault').count(), address).toBe(0)
}

test.each([
  { name: 'a wide window', viewport: { width: 1280, height: 800 } },
  { name: 'a phone', viewport: { width: 390, height: 844 } },
])('hostile names are shown as text, and push no page sideways: $name', async ({ viewport }) => {
  const page = await bed.page({ viewport })
  await bed.signIn(page)
  const wide: string[] = []
  for (const address of addresses) {
    await look(page, address)
    await fitsSideways(page).catch((error: Error) => wide.push(error.message))
  }
  expect(wide).toEqual([])
})

test('what an upstream and a client wrote is shown as text in the playground and in each tab of the row', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await look(page, `/console/log/${asked}`)
  const sheet = page.getByRole('complementary', { name: 'The row that is open' })
  await sheet.getByRole('tab', { name: 'Answer' }).click()
  await sheet.getByText('onerror').first().waitFor()
  expect(await page.evaluate('window.isHurt')).toBeUndefined()

  bed.upstream.script(() => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: hurt,
      object: 'chat.completion',
      created: 1,
      model: hurt,
      choices: [{ index: 0, message: { role: 'assistant', content: hurt }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }),
  }))
  await look(page, `/console/playground?from=${asked}`)
  await expect.poll(() => page.getByLabel('Text of message 1').inputValue()).toBe(hurt)
  const stream = page.getByRole('switch', { name: 'Stream' })
  if (await stream.isChecked()) await stream.click()
  await page.getByRole('button', { name: 'Send the request' }).click()
  await page.locator('main').getByText('onerror').nth(1).waitFor()
  expect(await page.evaluate('window.isHurt')).toBeUndefined()
})

test('forms that offer models take a catalog with an entry for any other name', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  for (const [address, button, field] of [
    ['/console/groups', 'Make group', 'Models'],
    ['/console/keys', 'Make key', 'Models'],
  ] as const) {
    await look(page, address)
    await page.getByRole('button', { name: button }).first().click()
    const models = page.getByRole('dialog').getByRole('combobox', { name: field })
    await models.click()
    await page.getByRole('option', { name: 'main', exact: true }).waitFor()
    expect(await page.getByRole('option', { name: '*', exact: true }).count()).toBe(1)
  }
})
