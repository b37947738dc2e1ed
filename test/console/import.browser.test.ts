import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, type BrowserBed, fitsSideways, type Owner, startBrowser } from '../support/browser.ts'

let bed: BrowserBed
let owner: Owner
beforeAll(async () => {
  bed = await startBrowser()
  owner = await bed.makeOwner()
})
afterAll(() => bed?.close())

const file = 'test/fixtures/import/litellm.yaml'
const text = readFileSync(file, 'utf8')

test('a file is planned, its variables are asked for, and it is written as the plan says', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/set-up')
  await page.getByRole('link', { name: 'Import from LiteLLM or new-api' }).click()
  await page.getByRole('button', { name: 'Show the plan' }).click()
  await page.getByText('Drop a file, choose one, or paste its text.').waitFor()
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByText('litellm.yaml').waitFor()
  expect(await page.getByRole('combobox', { name: 'From' }).inputValue()).toBe('LiteLLM')
  await axe(page)
  await page.getByRole('button', { name: 'Show the plan' }).click()
  await page.getByLabel('UPSTREAM_KEY').fill('planted-upstream-key')
  await page.getByRole('button', { name: 'Show the plan' }).click()
  // The group of gateway.yaml has the name that the import would give its own.
  await page.getByText('Resolve the conflicts, or go back').waitFor()
  await page.getByRole('cell', { name: 'groups: default' }).waitFor()
  expect(await page.getByRole('button', { name: /^Write/ }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Back to the file' }).click()
  await page.getByLabel('Keep existing rows as they are').check()
  await page.getByRole('button', { name: 'Show the plan' }).click()

  const { body } = await owner.call('POST', 'imports/plan', {
    ...{ format: 'litellm', file: { name: 'litellm.yaml', text } },
    ...{ variables: { UPSTREAM_KEY: 'planted-upstream-key' }, keep_existing: true },
  })
  const plan = body as {
    counts: { create: number }
    rows: { kind: string; name: string }[]
    problems: { where: string; what: string }[]
  }
  await page.getByText(`${plan.counts.create} to create, `).waitFor()
  for (const kind of ['models', 'channels', 'groups', 'tenants', 'keys'] as const) {
    const wanted = plan.rows.filter((row) => row.kind === kind)
    const label = kind.charAt(0).toUpperCase() + kind.slice(1)
    const rows = page.getByRole('region', { name: label, exact: true }).getByRole('row')
    expect(await rows.count(), kind).toBe(wanted.length === 0 ? 0 : wanted.length + 1)
    for (const { name } of wanted) await rows.getByRole('cell', { name, exact: true }).waitFor()
  }
  for (const { what } of plan.problems) await page.getByRole('cell', { name: what }).first().waitFor()
  expect(await page.getByText('planted-upstream-key').count()).toBe(0)
  await axe(page)
  await page.getByRole('textbox', { name: 'Search the plan' }).fill('claude')
  await page.getByRole('region', { name: 'Groups', exact: true }).waitFor({ state: 'hidden' })
  await page.getByRole('textbox', { name: 'Search the plan' }).fill('')
  await page.getByRole('button', { name: `Write ${plan.counts.create} rows` }).click()
  await page.getByText(`Imported: ${plan.counts.create} rows created`).waitFor()
  await axe(page)
  await page.getByRole('link', { name: /^See models/ }).click()
  await page.getByRole('gridcell', { name: 'claude' }).first().waitFor()
  const { body: models } = await owner.call('GET', 'models?limit=200')
  const ids = (models as { data: { id: string }[] }).data.map(({ id }) => id)
  expect(ids).toEqual(expect.arrayContaining(['chat', 'claude']))
})

test('a file that cannot be read is refused in words, on a phone', async () => {
  const page = await bed.page({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
  await bed.signIn(page)
  await page.goto('/console/import')
  const choose = (name: string, content: string) =>
    page.locator('input[type=file]').setInputFiles({
      ...{ name, mimeType: 'text/plain', buffer: Buffer.from(content) },
    })
  await choose('one-api.db', 'SQLite format 3\0 and more')
  await page.getByText('one-api.db is an SQLite file.').waitFor()
  await choose('large.sql', 'a'.repeat(1_500_000))
  await page.getByText('large.sql has more than 1 MB.').waitFor()
  await choose('broken.yaml', 'model_list: [')
  await page.getByRole('button', { name: 'Show the plan' }).click()
  await page.getByText(/not valid YAML/).waitFor()
  expect(await page.getByRole('textbox', { name: 'Text of the file' }).getAttribute('aria-invalid')).toBe(
    'true',
  )
  await axe(page)
  await fitsSideways(page)
})
