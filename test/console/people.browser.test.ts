import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminClient, join } from '../support/admin-client.ts'
import { axe, type BrowserBed, type Owner, startBrowser } from '../support/browser.ts'
import { until } from '../support/until.ts'

let bed: BrowserBed
let owner: Owner
beforeAll(async () => {
  bed = await startBrowser()
  owner = await bed.makeOwner()
})
afterAll(() => bed?.close())

async function made(path: string, body: unknown): Promise<Record<string, string>> {
  const answer = await owner.call('POST', path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

/** The status of a small request with a key. */
async function asked(key: string): Promise<number> {
  const response = await bed.chat({ model: 'main', messages: [{ role: 'user', content: 'Hello' }] }, { key })
  await response.text()
  return response.status
}

test('a key that is revoked by typing its name is refused within a second, and never shows its secret again', async () => {
  await made('tenants', { name: 'acme' })
  const key = await made('keys', { tenant: 'acme', name: 'ci', group: 'default' })
  const secret = key.secret ?? ''
  await until(async () => (await asked(secret)) === 200)
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto(`/console/keys/${key.id}`)
  await page.getByRole('button', { name: 'Revoke key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Revoke key?' })
  const revoke = dialog.getByRole('button', { name: 'Revoke key' })
  await dialog.getByLabel(/^Type ci/).fill('c')
  expect(await revoke.isDisabled()).toBe(true)
  expect(await asked(secret)).toBe(200)
  await dialog.getByLabel(/^Type ci/).fill('ci')
  await revoke.click()
  await page.getByText('Key ci is revoked').first().waitFor()
  await until(async () => (await asked(secret)) === 401)
  expect(await page.content()).not.toContain(secret)
})

test('a member sees its own tenant on every page, and nothing of another one', async () => {
  const own = await made('tenants', { name: 'own-tenant' })
  await made('tenants', { name: 'foreign-tenant' })
  const key = await made('keys', { tenant: 'own-tenant', name: 'own-key', group: 'default' })
  const foreign = await made('keys', { tenant: 'foreign-tenant', name: 'foreign-key', group: 'default' })
  const ids = []
  for (const { secret } of [key, foreign]) {
    const body = { model: 'main', user: 'somebody', messages: [{ role: 'user', content: 'Hello' }] }
    const response = await bed.chat(body, { key: secret ?? '' })
    ids.push(response.headers.get('x-request-id') ?? '')
    await bed.row(ids.at(-1) ?? null)
  }
  const member = await join(adminClient(bed.gateway.url), owner.cookie, {
    email: 'member@example.com',
    role: 'member',
    tenant_id: own.id ?? '',
  })
  const page = await bed.page()
  const [name = '', value = ''] = member.cookie.split('=')
  await page.context().addCookies([{ name, value, url: bed.gateway.url, httpOnly: true, sameSite: 'Lax' }])

  await page.goto('/console/log')
  await page.getByText('1 request matches').waitFor()
  const menu = page.getByRole('navigation', { name: 'Pages' })
  for (const hidden of ['Users', 'Groups', 'Channels', 'Ledger', 'Settings']) {
    expect(await menu.getByRole('link', { name: hidden, exact: true }).count(), hidden).toBe(0)
  }
  const addresses = [
    '',
    '/log',
    '/jobs',
    '/playground',
    '/models',
    '/models/main',
    '/tenants',
    '/keys',
    '/alerts',
    '/audit',
    '/account',
  ]
  for (const address of addresses) {
    await page.goto(`/console${address}`)
    await page.locator('main h1').first().waitFor()
    await until(async () => (await page.locator('[aria-label="Loading"]').count()) === 0)
    expect(await page.content(), address).not.toContain('foreign')
  }
  await page.goto(`/console/log/${ids[1]}`)
  // As for an id that no one has used.
  await page.getByText('It has no row yet').waitFor()
  expect(await page.content()).not.toContain('foreign')
  await page.goto(`/console/keys/${foreign.id}`)
  await page.getByText('There is no such key').waitFor()
  await page.goto(`/console/log/${ids[0]}`)
  await page.getByRole('tab', { name: 'Properties' }).click()
  await page.getByText('own-key').first().waitFor()
  await page.getByText('no model was called').waitFor({ state: 'detached' })

  await page.goto('/console/models')
  await page.getByRole('link', { name: 'main', exact: true }).click()
  await page.getByRole('region', { name: 'Price', exact: true }).waitFor()
  await axe(page)
  await page.goto('/console/channels')
  await page.getByText('You cannot open this page').waitFor()
  await page.goto('/console/playground')
  await page.getByRole('combobox', { name: 'Model' }).click()
  await page.getByRole('option', { name: 'main' }).waitFor()
  await page.goto('/console')
  await page.getByRole('button', { name: 'member@example.com' }).click()
  await page.getByRole('menuitem', { name: 'Documentation' }).waitFor()
  await page.goto('/console/log')
  await page.getByPlaceholder('Error text, request id, or status:5xx -model:main').waitFor()
})

test('the form of a key begins with a group that the member may use, and Escape does not drop it', async () => {
  const tenant = await made('tenants', { name: 'form-tenant' })
  const member = await join(adminClient(bed.gateway.url), owner.cookie, {
    email: 'form@example.com',
    role: 'member',
    tenant_id: tenant.id ?? '',
  })
  const page = await bed.page()
  const [name = '', value = ''] = member.cookie.split('=')
  await page.context().addCookies([{ name, value, url: bed.gateway.url, httpOnly: true, sameSite: 'Lax' }])
  await page.goto('/console/keys')
  await page.getByRole('button', { name: 'Make key' }).first().click()
  await page.getByText('An admin makes the first key').waitFor()

  await made('groups', { name: 'granted' })
  await made('keys', { tenant: 'form-tenant', name: 'first', group: 'granted' })
  await page.goto('/console/keys')
  await page.getByRole('button', { name: 'Make key' }).first().click()
  const form = page.getByRole('dialog', { name: 'Make a key' })
  expect(await form.getByRole('combobox', { name: 'Group' }).inputValue()).toBe('granted')
  await form.getByLabel('Name').fill('second')
  await page.keyboard.press('Escape')
  await page.getByText('What you have typed is not saved.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('What you have typed is not saved.').waitFor({ state: 'detached' })
  expect(await form.getByLabel('Name').inputValue()).toBe('second')
  await form.getByRole('button', { name: 'Make key' }).click()
  await page.getByRole('dialog', { name: 'The secret of second' }).waitFor()
})
