import { mkdirSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, type BrowserBed, fitsSideways, listsFit, type Owner, startBrowser } from '../support/browser.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { until } from '../support/until.ts'

/** Finding the key of a secret, and doing something with several keys. */

let bed: BrowserBed
let owner: Owner
beforeAll(async () => {
  bed = await startBrowser()
  owner = await bed.makeOwner()
  await made('tenants', { name: 'acme' })
})
afterAll(() => bed?.close())

async function made(path: string, body: unknown): Promise<Record<string, string>> {
  const answer = await owner.call('POST', path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

const makeKey = (name: string) => made('keys', { tenant: 'acme', name, group: 'default' })

async function asked(key: string): Promise<number> {
  const response = await bed.chat({ model: 'main', messages: [{ role: 'user', content: 'Hello' }] }, { key })
  await response.text()
  return response.status
}

/** What the browser keeps of a page, and every address that it has called. */
async function watchTraces(page: Page) {
  const addresses: string[] = []
  page.on('request', (request) => addresses.push(request.url()))
  return async () => {
    const kept = await page.evaluate<string>(
      `JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, history.state, document.cookie])`,
    )
    const fields = await page.locator('input').evaluateAll('(all) => all.map(({ value }) => value)')
    return JSON.stringify([addresses, kept, fields])
  }
}

test('a secret that is pasted into the palette or the list of keys opens its key, and stays nowhere', async () => {
  const { id, secret = '' } = await makeKey('of-a-secret')
  const page = await bed.page()
  const traces = await watchTraces(page)
  await bed.signIn(page)
  await page.goto('/console/tenants')
  await page.getByRole('heading', { name: 'Tenants' }).waitFor()
  await page.keyboard.press('Control+k')
  const field = page.getByRole('textbox', { name: 'Find anything' })
  await field.fill('no-such-name')
  await page.getByText('Nothing has this name').waitFor()
  await field.fill(secret.replace(/.$/, '?'))
  await page.getByText('No key has this secret').waitFor()
  await field.fill(secret)
  await page.waitForURL(`**/console/keys/${id}`)
  await until(async () => !(await traces()).includes(secret.slice(3, 20)))

  await page.goto('/console/keys')
  const search = page.getByLabel('Search, or paste a secret')
  await search.fill('no-key-has-this-SECRET-0001-at-all')
  await page.getByText('No key has this secret').waitFor()
  await search.fill(secret)
  await page.waitForURL(`**/console/keys/${id}`)
  await page.getByRole('heading', { name: 'of-a-secret' }).waitFor()
  await page.goBack()
  await search.waitFor()
  expect(await search.inputValue()).toBe('')

  await page.goto('/console/log')
  const log = page.getByLabel('Search the log')
  await log.fill('tg-no-key-has-this-secret')
  await page.getByText('No key has this secret').waitFor()
  await log.press('Enter')
  await log.fill(secret)
  await page.waitForURL(`**/console/keys/${id}`)
  const left = await traces()
  expect(left).not.toContain(secret.slice(3, 20))
  expect(left).not.toContain('no-key-has')
})

test('the palette puts the key with exactly this name first, with its tenant', async () => {
  for (const name of ['exact-1', ...Array.from({ length: 12 }, (_, at) => `exact-1${at}`)])
    await makeKey(name)
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/tenants')
  await page.getByRole('heading', { name: 'Tenants' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Find anything' }).fill('exact-1')
  await page.getByText('key of acme').first().waitFor()
  const first = page.locator('.mantine-Spotlight-action').first()
  expect(await first.textContent()).toBe('exact-1key of acme')
})

test('a key of gateway.yaml is blocked on its page, with a reason, and unblocked', async () => {
  await until(async () => (await asked(freeKey)) === 200)
  const page = await bed.page()
  await bed.signIn(page)
  const { body } = await owner.call('POST', 'keys/find', { secret: freeKey })
  await page.goto(`/console/keys/${body.id}`)
  await page.getByRole('button', { name: 'Block key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Block key?' })
  const block = dialog.getByRole('button', { name: 'Block key' })
  expect(await block.isDisabled()).toBe(true)
  await dialog.getByLabel('Why, for your colleagues').fill('It was in a public repository')
  await block.click()
  await page
    .getByText(/This key is blocked since .*, by owner@example.com: It was in a public repository/)
    .waitFor()
  expect(await asked(freeKey)).toBe(401)
  await axe(page)
  await pictures(page, 'key-blocked')
  await page.goto('/console/keys?state=blocked')
  await page.getByRole('gridcell', { name: 'blocked' }).waitFor()
  await page.getByRole('link', { name: 'free', exact: true }).click()
  await page.getByRole('button', { name: 'Unblock key' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Unblock key' }).click()
  await page.getByText('Key free is unblocked').first().waitFor()
  expect(await asked(freeKey)).toBe(200)
})

test('several keys are selected with the keyboard and blocked, and what fails is listed by name', async () => {
  const keys = [await makeKey('several-1'), await makeKey('several-2')]
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/keys?search=several&sort=name')
  await page.getByRole('link', { name: 'several-1' }).waitFor()
  await page.getByRole('grid', { name: 'Keys' }).focus()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press(' ')
  const bar = page.getByRole('toolbar', { name: 'Selected keys' })
  await bar.getByText('2 keys selected').waitFor()
  await axe(page)
  await listsFit(page)
  await pictures(page, 'keys-selected')
  await bar.getByRole('button', { name: 'Block', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Block 2 keys?' })
  await dialog.getByText('acme/several-1').waitFor()
  await dialog.getByText('acme/several-2').waitFor()
  await dialog.getByLabel('Why, for your colleagues').fill('Both leaked')
  await axe(page)
  await pictures(page, 'keys-asked')
  await dialog.getByRole('button', { name: 'Block 2 keys' }).click()
  await page.getByText('2 keys are blocked').first().waitFor()
  for (const { secret = '' } of keys) expect(await asked(secret)).toBe(401)
  expect(await bar.count()).toBe(0)

  await page.goto('/console/keys')
  await page.getByLabel('Select all keys in view').check()
  await bar.getByRole('button', { name: 'Clear selection' }).click()
  await page.getByLabel('Select acme/several-1').check()
  await page.getByLabel('Select free/free').check()
  await bar.getByRole('button', { name: 'Revoke' }).click()
  const revoking = page.getByRole('dialog', { name: 'Revoke 1 key?' })
  await revoking.getByText('free/free: gateway.yaml manages it').waitFor()
  await revoking.getByLabel(/^Type 1 key/).fill('1 key')
  await axe(page)
  await revoking.getByRole('button', { name: 'Revoke 1 key' }).click()
  await page.getByText('1 key is revoked').first().waitFor()
  await bar.getByText('1 key selected').waitFor()

  await page.getByLabel('Select acme/several-2').check()
  await page.getByLabel('Select acme/of-a-secret').check()
  await bar.getByRole('button', { name: 'Disable' }).click()
  const disabling = page.getByRole('dialog', { name: 'Disable 2 keys?' })
  await disabling.getByText('acme/several-2').waitFor()
  expect((await owner.call('POST', `keys/${keys[1]?.id}/revoke`)).status).toBe(200)
  await disabling.getByRole('button', { name: 'Disable 2 keys' }).click()
  await page.getByText('1 of 2 keys is disabled. Not these:').waitFor()
  await page.getByText(/acme\/several-2: .*revoked/).waitFor()
  await bar.getByText('2 keys selected').waitFor()
  expect(await asked(freeKey)).toBe(200)
  await pictures(page, 'keys-failed')
  await page.setViewportSize({ width: 390, height: 844 })
  await fitsSideways(page)
})

async function pictures(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  for (const width of [1280, 390])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 800 })
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png` })
    }
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })
}
