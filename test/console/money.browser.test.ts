import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { axe, type BrowserBed, fitsSideways, startBrowser } from '../support/browser.ts'
import { planByModel } from '../support/upstream-plans.ts'

/** Money on the pages: prices from the set-up on, what is spent, and what is left of budgets. */

const listed = ['gpt-5', 'claude-sonnet-4-5', 'deepseek-chat', 'own-model']

let bed: BrowserBed
beforeAll(async () => {
  bed = await startBrowser({ yaml: () => 'models: []\n' })
  bed.upstream.script((request) =>
    request.path.endsWith('/models')
      ? { body: JSON.stringify({ data: listed.map((id) => ({ id })) }) }
      : planByModel(request),
  )
})
afterAll(() => bed?.close())

async function call(method: string, path: string, body?: unknown) {
  const answer = await (await bed.makeOwner()).call(method, path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer
}
const rowsIn = ({ body }: { body: unknown }) =>
  z.object({ data: z.array(z.record(z.string(), z.unknown())) }).parse(body).data
const made = z.object({ id: z.string(), secret: z.string().optional() })
const priceOf = async (id: string) => (await call('GET', `models/${id}`)).body.price

test('the set-up brings a new channel into view, and saves the prices of its models at once', async () => {
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
  await channel.getByRole('button', { name: 'Take all 4' }).click()
  await channel.getByRole('button', { name: 'Add the channel' }).click()
  const box = page.getByRole('region', { name: 'Channel vllm', exact: true })
  await box.getByText('Channel vllm is added with 4 models').waitFor()
  expect(await page.evaluate<string>('document.activeElement.ariaLabel')).toBe('Channel vllm')

  const prices = step(/^Prices/)
  const field = (name: string) => prices.getByRole('textbox', { name, exact: true })
  await field('Input of gpt-5').waitFor()
  await prices.getByText('The library knows no price under this name.').waitFor()
  const suggested = rowsIn(await call('GET', 'models?suggestions=true&limit=200'))
  for (const id of listed.slice(0, 3)) {
    const { price } = z
      .object({ price: z.object({ input: z.string(), output: z.string() }) })
      .parse(suggested.find((row) => row.id === id)?.suggestion)
    expect(await field(`Input of ${id}`).inputValue()).toBe(price.input)
    expect(await field(`Output of ${id}`).inputValue()).toBe(price.output)
  }
  await axe(page)
  await field('Input of own-model').fill('much')
  await prices.getByRole('button', { name: 'Save 4 prices' }).click()
  await prices.getByText('Input: Write USD as a decimal number').waitFor()
  await field('Input of own-model').fill('')
  await prices.getByText('Write a price, or choose').waitFor()
  await axe(page)
  expect(await priceOf('gpt-5')).toBeNull()
  await prices.getByLabel('Kind of price of own-model').selectOption('Free')
  await prices.getByRole('button', { name: 'Save 4 prices' }).click()
  await prices.getByText('All 4 models have a price.').waitFor()
  expect(await priceOf('own-model')).toEqual({ input: '0', output: '0' })
  expect(await priceOf('claude-sonnet-4-5')).toMatchObject({ input: '3', output: '15' })
})

test('prices of many models are changed in one table, reviewed and saved as new versions', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/models')
  await page.getByRole('link', { name: 'Edit prices' }).click()
  const field = (name: string) => page.getByRole('textbox', { name, exact: true })
  await field('Input of gpt-5').fill('1.5')
  await page.getByLabel('Kind of price of deepseek-chat').selectOption('No price yet')
  await page.getByRole('button', { name: 'Review the changes' }).click()
  const review = page.getByRole('dialog', { name: 'What changes' })
  await review.getByText('$1.25 → $1.50').waitFor()
  await review.getByText('gets no price').waitFor()
  await axe(page)
  // Somebody else is faster: nothing is saved, and what was written stays.
  await call('POST', 'models/gpt-5/prices', { input: '1.4', output: '10' })
  await review.getByRole('button', { name: 'Save 2 new prices' }).click()
  await page
    .getByText(/was changed meanwhile/)
    .first()
    .waitFor()
  expect(await field('Input of gpt-5').inputValue()).toBe('1.5')
  expect(await priceOf('deepseek-chat')).not.toBeNull()
  await page.getByRole('button', { name: 'Review the changes' }).click()
  await review.getByText('$1.40 → $1.50').waitFor()
  await review.getByRole('button', { name: 'Save 2 new prices' }).click()
  await page.getByText('2 new prices are in force').waitFor()
  expect(await priceOf('gpt-5')).toMatchObject({ input: '1.5', output: '10' })
  expect(await priceOf('deepseek-chat')).toBeNull()
  await page.getByRole('button', { name: 'Fill empty ones from the library' }).click()
  await page.getByText('1 price is changed').waitFor()
  await page.getByRole('button', { name: 'Drop the changes' }).click()
  await page.getByText('1 price is changed').waitFor({ state: 'detached' })
})

test('lists show the spend of each row as the API has it, and pages what is left of budgets', async () => {
  await call('POST', 'groups', { name: 'all', models: ['*'], channels: ['*'] })
  const tenant = made.parse(
    (await call('POST', 'tenants', { name: 'acme', budget: { day: '0.01', month: '1' } })).body,
  )
  await call('POST', 'tenants', { name: 'idle' })
  const key = made.parse((await call('POST', 'keys', { tenant: 'acme', name: 'ci', group: 'all' })).body)
  await call('POST', 'models/own-model/prices', { image: '1' })
  const ask = async (model: string) => {
    const answer = await fetch(`${bed.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    expect(answer.status, await answer.text()).toBe(200)
  }
  await ask('gpt-5')
  await ask('claude-sonnet-4-5')

  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/tenants?sort=-spend')
  const rows = rowsIn(await call('GET', 'tenants?spend_days=30&sort=-spend'))
  const { spend } = z
    .object({ spend: z.object({ requests: z.number(), cost_nano_usd: z.string() }) })
    .parse(rows.find(({ name }) => name === 'acme'))
  expect(spend.requests).toBe(2)
  const row = page.getByRole('row').filter({ hasText: 'acme' })
  await row.getByTitle(exact(spend.cost_nano_usd)).waitFor()
  await page.getByRole('row').filter({ hasText: 'idle' }).getByText('$0', { exact: true }).waitFor()
  expect(Number(spend.cost_nano_usd)).toBeGreaterThan(0)
  await axe(page)

  for (const path of [`/console/tenants/${tenant.id}`, `/console/keys/${key.id}`]) {
    await page.goto(path)
    await left(page)
      .getByText(/^Budget of the month/)
      .waitFor()
    await page.getByRole('region', { name: 'Spend by day, 30 days (UTC)' }).getByText('gpt-5').waitFor()
    await axe(page)
  }
  // The numbers are of whole days, and of the model as requested: so is what they lead to.
  const byModel = page.getByRole('region', { name: 'Spend by model, 30 days (UTC)' })
  const way = await byModel.getByRole('link', { name: 'gpt-5' }).getAttribute('href')
  const asked = new URL(way ?? '', page.url()).searchParams
  expect(asked.get('requested_model')).toBe('gpt-5')
  expect(asked.get('from')).toMatch(/T00:00:00.000Z$/)
  // What sub-keys spend counts for the budget of their key, and is not in its chart.
  const byDay = page.getByRole('region', { name: 'Spend by day, 30 days (UTC)' })
  const line = byDay.getByText('budget of a day')
  await call('PATCH', `keys/${key.id}`, { budget: { day: '0.01' } })
  await page.reload()
  await line.waitFor()
  await call('PATCH', `keys/${key.id}`, { sub_keys: 2 })
  await page.reload()
  await left(page).getByText('Budget of the day, this key').waitFor()
  await byDay.getByText('gpt-5').waitFor()
  expect(await line.count()).toBe(0)
  await page.setViewportSize({ width: 390, height: 844 })
  for (const path of [`/console/tenants/${tenant.id}`, '/console/prices', '/console/set-up']) {
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    await fitsSideways(page)
  }
})

const left = (page: Page) => page.getByRole('region', { name: 'Remaining limits' })

/** Nano-USD as the pages have it on hover. */
function exact(nano: string): string {
  const digits = nano.padStart(10, '0')
  return `$${digits.slice(0, -9)}.${digits.slice(-9).replace(/0{1,7}$/, '')}`
}
