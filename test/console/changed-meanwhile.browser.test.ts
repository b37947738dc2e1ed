import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminClient, join } from '../support/admin-client.ts'
import { axe, type BrowserBed, type Owner, startBrowser } from '../support/browser.ts'

/** Two owners change the same thing: the second one sees it, and keeps what was typed. */

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

async function done(method: string, path: string, body: unknown): Promise<void> {
  const answer = await owner.call(method, path, body)
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status)
}

const read = async (path: string) => (await owner.call('GET', path)).body

/** A page of the first owner. */
async function pageAt(path: string): Promise<Page> {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto(path)
  return page
}

const conflict = (page: Page) => page.getByText('Somebody else has changed this since you opened it')

/** What the notice says about a field, cell by cell. */
async function rowOf(page: Page, path: string): Promise<string[]> {
  await conflict(page).waitFor()
  return await page
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name: path, exact: true }) })
    .getByRole('cell')
    .allTextContents()
}

test('two owners change the role of a user: the second one sees what the first did, and goes on with their own', async () => {
  const call = adminClient(bed.gateway.url)
  const { id } = await join(call, owner.cookie, { email: 'somebody@example.com', role: 'viewer' })
  const second = await join(call, owner.cookie, { email: 'second-owner@example.com', role: 'owner' })
  const page = await bed.page()
  const [name = '', value = ''] = second.cookie.split('=')
  await page
    .context()
    .addCookies([{ name, value, url: bed.gateway.url, httpOnly: true, sameSite: 'Lax' as const }])
  await page.goto('/console/users')
  await page.getByRole('button', { name: 'Actions for somebody@example.com' }).click()
  await page.getByRole('menuitem', { name: 'Change role' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change the role of somebody@example.com' })
  const role = dialog.getByLabel('Role').first()
  await role.click()
  await page.getByRole('option', { name: /^Owner/ }).click()

  await done('PATCH', `users/${id}`, { role: 'admin' })
  await dialog.getByRole('button', { name: 'Change role' }).click()
  expect(await rowOf(page, 'role')).toEqual(['viewer', 'admin', 'owner'])
  expect(await role.inputValue()).toMatch(/^Owner/)
  expect((await read(`users/${id}`)).role).toBe('admin')
  await axe(page)

  await dialog.getByRole('button', { name: 'Go on with mine' }).click()
  await dialog.getByRole('button', { name: 'Change role' }).click()
  await page.getByText('somebody@example.com is owner now').first().waitFor()
  expect((await read(`users/${id}`)).role).toBe('owner')
})

test('two owners set a price: the typed one is kept, and what the other set beside it too', async () => {
  await made('models', { id: 'fought-over', price: { input: '1', output: '2' } })
  const [mine, theirs] = [
    await pageAt('/console/models/fought-over'),
    await pageAt('/console/models/fought-over'),
  ]
  const open = async (page: Page) => {
    await page.getByRole('button', { name: 'Set a new price' }).click()
    return page.getByRole('dialog', { name: 'Set a new price' })
  }
  const [my, their] = [await open(mine), await open(theirs)]
  await my.getByLabel(/^Input/i).fill('7')
  await their.getByLabel(/^Input/i).fill('5')
  await their.getByLabel(/^Output/i).fill('9')
  await their.getByRole('button', { name: 'Set the price' }).click()
  await theirs.getByText('The new price is in force').first().waitFor()

  await my.getByRole('button', { name: 'Set the price' }).click()
  expect(await rowOf(mine, 'price.input')).toEqual(['1', '5', '7'])
  expect(await rowOf(mine, 'price.output')).toEqual(['2', '9', 'not changed'])
  expect(await my.getByLabel(/^Input/i).inputValue()).toBe('7')
  expect((await read('models/fought-over')).price).toMatchObject({ input: '5', output: '9' })
  await axe(mine)

  await my.getByRole('button', { name: 'Go on with mine' }).click()
  expect(await my.getByLabel(/^Output/i).inputValue()).toBe('9')
  await my.getByRole('button', { name: 'Set the price' }).click()
  await mine.getByText('The new price is in force').first().waitFor()
  expect((await read('models/fought-over')).price).toMatchObject({ input: '7', output: '9' })
})

test('a form keeps what was typed, takes the rest as it is now, and shows the latter alone when asked', async () => {
  const { id } = await made('tenants', { name: 'both-edit' })
  const page = await pageAt(`/console/tenants/${id}`)
  await page.getByRole('button', { name: 'Edit tenant' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit both-edit' })
  const [atOnce, tokens] = [dialog.getByLabel('Requests at once'), dialog.getByLabel('Tokens a minute')]
  await atOnce.fill('7')

  await done('PATCH', `tenants/${id}`, { limits: { concurrency: 3, tokens_per_minute: 500 } })
  await dialog.getByRole('button', { name: 'Save tenant' }).click()
  expect(await rowOf(page, 'limits.concurrency')).toEqual(['none', '3', '7'])
  await dialog.getByRole('button', { name: 'Go on with mine' }).click()
  expect([await atOnce.inputValue(), await tokens.inputValue()]).toEqual(['7', '500'])

  // Once more: this time the other one counts.
  await done('PATCH', `tenants/${id}`, { limits: { concurrency: 4 } })
  await dialog.getByRole('button', { name: 'Save tenant' }).click()
  await conflict(page).waitFor()
  await dialog.getByRole('button', { name: 'Drop mine, show what is there' }).click()
  expect(await atOnce.inputValue()).toBe('4')
  await tokens.fill('600')
  await dialog.getByRole('button', { name: 'Save tenant' }).click()
  await page.getByText('Tenant both-edit is saved').first().waitFor()
  expect((await read(`tenants/${id}`)).limits).toMatchObject({ concurrency: 4, tokens_per_minute: 600 })
})

test('settings of a channel as JSON stay as they were typed, and are put on the current state', async () => {
  const { id } = await made('channels', {
    name: 'as-json',
    protocols: { 'openai-chat': 'http://127.0.0.1:9' },
    api_keys: ['credential-of-a-test'],
    models: {},
    allow_private_address: true,
  })
  const page = await pageAt(`/console/channels/${id}`)
  await page.getByRole('button', { name: 'Edit the channel' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit as-json' })
  await dialog.getByText('JSON', { exact: true }).click()
  const editor = dialog.getByLabel('All settings, as the API has them')
  const text = await editor.inputValue()
  await editor.fill(text.replace('"weight": 1', '"weight": 4'))
  await done('PATCH', `channels/${id}`, { priority: 2 })
  await dialog.getByRole('button', { name: 'Save the channel' }).click()
  expect(await rowOf(page, 'priority')).toEqual(['0', '2'])
  await dialog.getByRole('button', { name: 'Go on with mine' }).click()
  expect(await editor.inputValue()).toMatch(/"priority": 2,\s+"weight": 4/)
  await dialog.getByRole('button', { name: 'Save the channel' }).click()
  await page.getByText('Channel as-json is saved').first().waitFor()

  // A model that is added meets the same question.
  await page.getByRole('button', { name: 'Add a model' }).click()
  const offer = page.getByRole('dialog', { name: 'Add a model' })
  await offer.getByLabel('Model', { exact: false }).first().fill('main')
  await done('PATCH', `channels/${id}`, { priority: 3 })
  await offer.getByRole('button', { name: 'Add the model' }).click()
  expect(await rowOf(page, 'priority')).toEqual(['2', '3'])
  await offer.getByRole('button', { name: 'Go on with mine' }).click()
  await offer.getByRole('button', { name: 'Add the model' }).click()
  await page.getByText('The channel offers main').first().waitFor()
  expect(await read(`channels/${id}`)).toMatchObject({ priority: 3, weight: 4, models: { main: 'main' } })
})

test('a group that somebody else has changed is deleted only by a second press, after what differs was shown', async () => {
  const { id } = await made('groups', { name: 'to-delete', models: ['*'], channels: ['*'] })
  const page = await pageAt(`/console/groups/${id}`)
  await page.getByRole('button', { name: 'Delete group' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete group?' })
  await dialog.getByLabel(/^Type to-delete/).fill('to-delete')
  await done('PATCH', `groups/${id}`, { description: 'We need it again' })
  await dialog.getByRole('button', { name: 'Delete group' }).click()
  expect(await rowOf(page, 'description')).toEqual(['none', 'We need it again'])
  expect((await owner.call('GET', `groups/${id}`)).status).toBe(200)
  await dialog.getByRole('button', { name: 'Delete group' }).click()
  await page.waitForURL('**/console/groups')
  expect((await owner.call('GET', `groups/${id}`)).status).toBe(404)
})
