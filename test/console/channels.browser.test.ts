import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, type BrowserBed, startBrowser } from '../support/browser.ts'

let bed: BrowserBed
beforeAll(async () => {
  bed = await startBrowser()
})
afterAll(() => bed?.close())

test('a channel that cannot be reached says so at its test; its key is never shown, and it goes by its name', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/channels')
  await page.getByRole('button', { name: 'Add a channel' }).click()
  await page.getByLabel('Who serves it').first().click()
  await page.getByRole('option', { name: /^Another server/ }).click()
  await page.getByLabel('Base URL').fill('http://127.0.0.1:9/v1')
  await page.getByLabel('Key of the vendor').fill('sk-secret-of-the-vendor-7391')
  await page.getByLabel('Models', { exact: true }).first().fill('far-model')
  await page.keyboard.press('Enter')
  await page.getByLabel('Name of the channel').fill('far')
  await page.getByRole('button', { name: 'Add the channel' }).click()
  await page.getByRole('heading', { name: 'far', exact: true }).waitFor()
  await page.getByText('…7391').waitFor()
  expect(await page.content()).not.toContain('sk-secret-of-the-vendor')

  await page.getByRole('button', { name: 'Test now' }).click()
  await page.getByText(/far-model: no answer/).waitFor()
  await page.getByRole('link', { name: 'Its row' }).waitFor()
  await axe(page)

  await page.getByRole('button', { name: 'Delete the channel' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete the channel?' })
  await dialog.getByLabel(/^Type far/).fill('far')
  await dialog.getByRole('button', { name: 'Delete the channel' }).click()
  await page.waitForURL('**/console/channels')
})

test('a channel of gateway.yaml answers its test, and has no button that changes it', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  const { body } = await (await bed.makeOwner()).call('GET', 'channels')
  await page.goto(`/console/channels/${body.data[0].id}`)
  await page.getByRole('button', { name: 'Test now' }).click()
  await page.getByText('status 200').waitFor()
  expect(await page.getByRole('button', { name: /the channel$/ }).count()).toBe(0)
  await page.getByText('gateway.yaml manages this channel: change it there.').waitFor()
})
