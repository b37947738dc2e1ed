import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { axe, type BrowserBed, fitsSideways, type Owner, startBrowser } from '../support/browser.ts'

let bed: BrowserBed
let owner: Owner
beforeAll(async () => {
  bed = await startBrowser()
  owner = await bed.makeOwner()
})
afterAll(() => bed?.close())

test('a rule is made, changed, turned off and deleted, and the audit leads to each change', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/alerts')
  await page.getByRole('heading', { name: 'No alert rules yet' }).waitFor()
  await page.getByRole('button', { name: 'Create rule' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create rule' })
  await page.getByRole('textbox', { name: /^Webhook/ }).fill('nonsense')
  await page.getByLabel('Error rate above, %').fill('500')
  await dialog.getByRole('button', { name: 'Create rule' }).click()
  for (const fault of [
    'Name is missing.',
    'At most 99.9 %.',
    'Write a URL that begins with https:// or http://.',
  ])
    await dialog.getByText(fault).waitFor()
  expect(await dialog.locator('[aria-invalid=true]').count()).toBe(3)
  await axe(page)
  await page.getByLabel(/^Name/).fill('main is slow')
  await page.getByLabel('Error rate above, %').fill('20')
  await page
    .getByRole('textbox', { name: /^Webhook/ })
    .fill('https://hooks.example.com/tollgate?token=hidden')
  await dialog.getByRole('button', { name: 'Create rule' }).click()
  const secret = page.getByRole('dialog', { name: 'Webhook secret' })
  await secret.getByText(/^whsec_/).waitFor()
  await axe(page)
  await page.keyboard.press('Escape')
  await secret.waitFor({ state: 'hidden' })

  await page.getByRole('gridcell', { name: 'main is slow' }).click()
  const sheet = page.getByRole('complementary')
  await sheet
    .getByText('More than 20% of the requests of a model fail within 5 min, with at least 20 requests.')
    .waitFor()
  await axe(page)
  await sheet.getByRole('button', { name: 'Turn off' }).click()
  await page.getByRole('dialog').getByText('Its open episodes close').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click()
  await sheet.getByText('turned off').waitFor()

  await sheet.getByRole('button', { name: 'Edit rule' }).click()
  await page.getByLabel('Error rate above, %').fill('7')
  await page.getByRole('switch', { name: /^Remove the webhook/ }).click()
  await page.getByRole('button', { name: 'Save rule' }).click()
  await sheet.getByText(/^More than 7%/).waitFor()
  await sheet.getByText('none: alerts are shown only here').waitFor()

  await sheet.getByRole('button', { name: 'Delete the rule' }).click()
  await page.getByLabel('Type main is slow to confirm').fill('main is slow')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the rule' }).click()
  await page.getByRole('heading', { name: 'No alert rules yet' }).waitFor()

  const { data } = (await (
    await owner.call('GET', 'audit?action=alert.change')
  ).body) as {
    data: { id: string }[]
  }
  // The list has no such line, the sheet finds it all the same.
  await page.goto(`/console/audit/${data[0]?.id}?action=nothing`)
  await page.getByRole('heading', { name: 'No change matches' }).waitFor()
  const row = page.getByRole('row', { name: /condition\.above_percent/ })
  await row.waitFor()
  expect(await row.getByRole('cell').allTextContents()).toEqual(['20', '7'])
  await page.getByRole('link', { name: 'All changes of this alert' }).click()
  await page.getByText('All 4 changes').waitFor()
  await axe(page)
})

test('a setting is found by its words, and no secret is shown', async () => {
  const page = await bed.page({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
  await bed.signIn(page)
  await page.goto('/console/settings?find=secret+key')
  const row = page.getByRole('row', { name: /^SECRET_KEY / })
  await row.getByText('set, and not shown').waitFor()
  await page
    .getByRole('row', { name: /^SECRET_KEY_PREVIOUS / })
    .getByText('not set')
    .waitFor()
  await axe(page)
  await fitsSideways(page)
})

test('an erasure begins as a count, and is confirmed by the name of its tenant', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  const { data } = (await (await owner.call('GET', 'tenants')).body) as { data: { name: string }[] }
  const tenant = data[0]?.name ?? ''
  await page.goto('/console/settings?tab=erasures')
  await page.getByText('Nothing has been erased yet.').waitFor()
  await page.getByRole('button', { name: 'Erase data' }).click()
  await page.getByRole('combobox', { name: 'Tenant' }).fill(tenant)
  await page.getByRole('button', { name: 'Count what would go' }).click()
  await page.getByRole('row', { name: new RegExp(`content of all ${tenant}`) }).waitFor()

  await page.getByRole('button', { name: 'Erase data' }).click()
  await page.getByRole('combobox', { name: 'Tenant' }).fill(tenant)
  await page.getByRole('switch', { name: 'Only count what would go' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Erase data' }).click()
  const confirmation = page.getByRole('dialog', { name: 'Erase data?' })
  await confirmation.getByText(`The content of the tenant ${tenant} goes`).waitFor()
  expect(await confirmation.getByRole('button', { name: 'Erase data' }).isDisabled()).toBe(true)
  await axe(page)
  await confirmation.getByRole('button', { name: 'Cancel' }).click()
  await confirmation.waitFor({ state: 'hidden' })
  expect(await page.getByRole('row').count()).toBe(2)
})

test('the ledger says that it is well, and does not when it cannot be read', async () => {
  const page = await bed.page({ forgives: /status of 503/ })
  await bed.signIn(page)
  await page.goto('/console/ledger')
  await page.getByText(/^Postgres has every row/).waitFor()
  await page.getByRole('progressbar', { name: 'How full the journal is' }).waitFor({ state: 'attached' })
  await axe(page)
  await page.route('**/admin/v1/ledger', (route) =>
    route.fulfill({ status: 503, json: { title: 'Not available', detail: 'Postgres does not answer.' } }),
  )
  await page.getByText('The ledger: not available').waitFor()
  expect(await page.getByText(/^Postgres has every row/).count()).toBe(0)
  await page.unroute('**/admin/v1/ledger')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText(/^Postgres has every row/).waitFor()
})

test('the ledger is verified by its page: it goes on when the page is left, is cancelled, and tells what it found', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  const holder = postgres(bed.databaseUrl, { max: 1, onnotice: () => {} })
  onTestFinished(() => holder.end({ timeout: 0 }))
  // No one reads `entries` meanwhile: the first rule waits.
  await holder.unsafe('BEGIN; LOCK TABLE entries IN ACCESS EXCLUSIVE MODE')
  await page.goto('/console/ledger')
  await page.getByRole('button', { name: 'Verify the ledger' }).click()
  await page.getByText(/^Step 1 of \d+: every account's balance/).waitFor()
  await axe(page)
  await page.goto('/console/keys')
  await page.getByRole('link', { name: 'Ledger' }).click()
  await page.getByRole('progressbar', { name: 'How far the verification is' }).waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Cancel it' }).click()
  await page.getByText('It was cancelled, and has found nothing out.').waitFor()
  await holder.unsafe('ROLLBACK')
  await page.getByRole('button', { name: 'Verify the ledger' }).click()
  await page.getByText(/^Every rule holds: /).waitFor()
  await page.getByText(/^All \d+ rules$/).click()
  await page.getByText("every account's balance is the sum of its entries").waitFor()
  await axe(page)
})
