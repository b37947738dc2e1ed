import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, type BrowserBed, fitsSideways, startBrowser } from '../support/browser.ts'
import { planByModel } from '../support/upstream-plans.ts'

/** A gateway without a channel, group, tenant or key: all of them are made by the pages. */

let bed: BrowserBed
beforeAll(async () => {
  bed = await startBrowser({ yaml: () => 'models: []\n' })
})
afterAll(() => bed?.close())

test('from nothing to the row of a first request, by the forms of the set-up', async () => {
  bed.upstream.script((request) =>
    request.path.endsWith('/models')
      ? { body: JSON.stringify({ data: [{ id: 'small' }, { id: 'large' }] }) }
      : planByModel(request),
  )
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/set-up')
  const step = (title: RegExp) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) })

  const channel = step(/^Channel/)
  await channel.getByLabel('Who serves it').first().click()
  await page.getByRole('option', { name: 'vLLM' }).click()
  await channel.getByLabel('Base URL').fill(bed.upstream.url)
  await channel.getByRole('button', { name: 'Read its list of models' }).click()
  await channel.getByRole('button', { name: 'Take all 2' }).click()
  await axe(page)
  await channel.getByRole('button', { name: 'Add the channel' }).click()
  await channel.getByRole('button', { name: 'Test now' }).click()
  await channel.getByText('status 200').waitFor()

  await step(/^Group/)
    .getByRole('button', { name: 'Make group' })
    .click()
  await step(/^Group/)
    .getByText('done', { exact: true })
    .waitFor()
  await step(/^Tenant/)
    .getByLabel('Name')
    .fill('acme')
  await step(/^Tenant/)
    .getByRole('button', { name: 'Make tenant' })
    .click()
  await step(/^Tenant/)
    .getByText('done', { exact: true })
    .waitFor()
  await step(/^Key/).getByRole('button', { name: 'Make key' }).click()
  await step(/^Key/)
    .getByText(/Copy the secret of first now/)
    .waitFor()
  await axe(page)

  await page.getByRole('button', { name: 'Send a first request' }).click()
  await page.getByRole('link', { name: 'See its row' }).click()
  await page.waitForURL('**/console/log/*')
  const id = page.url().split('/').at(-1) ?? ''
  expect(await bed.row(id)).toMatchObject({ outcome: 'succeeded', status: 200 })
})

test('the set-up fits a phone, in the dark', async () => {
  const page = await bed.page({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
  await bed.signIn(page)
  await page.goto('/console/set-up')
  await page.getByRole('heading', { name: /^Its row in the log/ }).waitFor()
  await axe(page)
  await fitsSideways(page)
})
