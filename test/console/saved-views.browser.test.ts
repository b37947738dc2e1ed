import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, type BrowserBed, fitsSideways, type Owner, startBrowser } from '../support/browser.ts'

/** Saved views of the log, and what is told of a booking whose answer was lost. */

let bed: BrowserBed
let owner: Owner
beforeAll(async () => {
  bed = await startBrowser()
  owner = await bed.makeOwner()
})
afterAll(() => bed?.close())

const views = async () => (await owner.call('GET', 'views?page=log')).body.data

test('a view is renamed and deleted, and says when somebody else was quicker', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  const made = await owner.call('POST', 'views', { name: 'slow', page: 'log', query: { status: '5xx' } })
  const id = made.body.id
  const open = async (name: string) => {
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Change or delete a view' }).click()
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  }
  await page.goto('/console/log?status=4xx')
  await open('slow')
  const dialog = page.getByRole('dialog', { name: 'Change a view' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill('refused')
  await dialog.getByLabel(/^Give it the filters/).check()
  expect((await owner.call('PATCH', `views/${id}`, { shared: true })).status).toBe(200)
  await dialog.getByRole('button', { name: 'Save the view' }).click()
  await dialog.getByText('Somebody else has changed this since you opened it').waitFor()
  await axe(page)
  await fitsSideways(page)
  expect(await views()).toMatchObject([{ name: 'slow', shared: true, query: { status: '5xx' } }])
  await dialog.getByRole('button', { name: 'Go on with mine' }).click()
  await dialog.getByRole('button', { name: 'Save the view' }).click()
  await page.getByText('The view refused is saved').waitFor()
  expect(await views()).toMatchObject([{ name: 'refused', shared: true, query: { status: '4xx' } }])

  await open('refused')
  await dialog.getByRole('button', { name: 'Delete the view' }).click()
  const sure = page.getByRole('dialog', { name: 'Delete the view?' })
  await sure.getByText('It is gone for all operators too.', { exact: false }).waitFor()
  expect((await owner.call('PATCH', `views/${id}`, { name: 'kept' })).status).toBe(200)
  await sure.getByRole('button', { name: 'Delete the view' }).click()
  await sure.getByText('Somebody else has changed this since you opened it').waitFor()
  expect(await views()).toMatchObject([{ name: 'kept' }])
  await sure.getByRole('button', { name: 'Delete the view' }).click()
  await expect.poll(views).toEqual([])
})

test('an entry that was booked while its answer was lost is reported as that, and is booked again only by another press', async () => {
  const page = await bed.page({ forgives: /Failed to load resource/ })
  await bed.signIn(page)
  const [tenant] = (await owner.call('GET', 'tenants?search=paid')).body.data
  const booked = async () =>
    (await owner.call('GET', `tenants/${tenant.id}/entries?kind=top_up`)).body.data.length
  const before = await booked()
  await page.goto(`/console/tenants/${tenant.id}`)
  const dialog = page.getByRole('dialog', { name: /^Book an entry/ })
  const fill = async () => {
    await page.getByRole('button', { name: 'Book entry' }).click()
    await dialog.getByLabel('Amount, USD').fill('7.25')
    await dialog.getByRole('button', { name: 'Book top-up' }).click()
  }
  const entries = '**/admin/v1/tenants/*/entries'
  await page.route(entries, async (route) => {
    await route.fetch()
    await route.abort()
  })
  await fill()
  await dialog.getByText('The gateway does not answer.', { exact: false }).waitFor()
  expect(await booked()).toBe(before + 1)
  await page.unroute(entries)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await fill()
  await dialog.getByText(/An earlier try, whose answer was lost, booked \$7\.25/).waitFor()
  expect(await booked()).toBe(before + 1)
  await axe(page)
  await dialog.getByRole('button', { name: 'Book top-up' }).click()
  await page.getByText('$7.25 is booked for paid').waitFor()
  expect(await booked()).toBe(before + 2)
})
