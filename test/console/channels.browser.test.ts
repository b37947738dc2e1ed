import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, type BrowserBed, fitsSideways, startBrowser } from '../support/browser.ts'
import { planByModel } from '../support/upstream-plans.ts'

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
  await page.getByLabel('Chosen models').first().fill('far-model')
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

test('models are chosen from the list of the upstream, before there is a channel', async () => {
  bed.upstream.script((request) =>
    request.path.endsWith('/models')
      ? { body: JSON.stringify({ data: ['small', 'large', 'large-vision'].map((id) => ({ id })) }) }
      : planByModel(request),
  )
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/channels')
  await page.getByRole('button', { name: 'Add a channel' }).click()
  await page.getByLabel('Who serves it').first().click()
  await page.getByRole('option', { name: /^Another server/ }).click()
  const read = page.getByRole('button', { name: 'Read its list of models' })
  expect(await read.isDisabled()).toBe(true)
  await page.getByLabel('Base URL').fill(bed.upstream.url)
  await page.getByLabel('Key of the vendor').fill('sk-secret-of-the-vendor-4242')
  await page.getByLabel('Name of the channel').fill('listed')
  await page.getByRole('button', { name: 'Add the channel' }).click()
  await page.getByText(/^Choose one or more/).waitFor()

  await read.click()
  await page.getByText(/the channel needs allow_private_address: true to call it/).waitFor()
  await page.getByLabel('It may have a private address').check()
  await page.getByText(/allow_private_address/).waitFor({ state: 'detached' })
  await read.click()
  await page.getByLabel('small').check()
  await page.getByLabel('Search the list').fill('large')
  await page.getByRole('button', { name: 'Take all 2' }).click()
  await page.getByRole('button', { name: 'Take none 2' }).waitFor()
  await page.getByLabel('large-vision').uncheck()
  await page.getByLabel('Chosen models').first().fill('typed')
  await page.keyboard.press('Enter')
  await axe(page)
  await page.getByRole('button', { name: 'Add the channel' }).click()
  await page.getByRole('heading', { name: 'listed', exact: true }).waitFor()
  for (const name of ['small', 'large', 'typed'])
    await page.getByRole('link', { name, exact: true }).waitFor()
  expect(await page.getByRole('link', { name: 'large-vision' }).count()).toBe(0)
  expect(await page.content()).not.toContain('sk-secret-of-the-vendor')
  await page.getByRole('button', { name: 'Offer a model' }).click()
  await page.getByRole('button', { name: 'Read its list of models' }).click()
  await page.getByLabel('large-vision').check()
  await page.getByRole('textbox', { name: 'Model', exact: true }).fill('vision')
  await axe(page)
  await page.getByRole('button', { name: 'Offer the model' }).click()
  await page.getByRole('link', { name: 'vision', exact: true }).waitFor()
  await page.getByText('there: large-vision').waitFor()
  const asked = bed.upstream.requests.find(({ path }) => path === '/v1/models')
  expect(asked?.headers.authorization).toBe('Bearer sk-secret-of-the-vendor-4242')
})

test('an upstream without a list, and one that refuses the key, are reported, and names are typed: dark, on a phone', async () => {
  let status = 404
  bed.upstream.script((request) =>
    request.path.endsWith('/models')
      ? { status, body: JSON.stringify({ error: { message: 'Incorrect API key provided' } }) }
      : planByModel(request),
  )
  const page = await bed.page({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
  await bed.signIn(page)
  await page.goto('/console/channels')
  await page.getByRole('button', { name: 'Add a channel' }).click()
  await page.getByLabel('Who serves it').first().click()
  await page.getByRole('option', { name: 'vLLM' }).click()
  await page.getByLabel('Base URL').fill(bed.upstream.url)
  const read = page.getByRole('button', { name: 'Read its list of models' })
  await read.click()
  await page.getByText(/^It has no list of models at this address \(status 404\)/).waitFor()
  status = 401
  await read.click()
  await page.getByText(/Incorrect API key provided/).waitFor()
  await axe(page)
  await fitsSideways(page)
  await page.getByLabel('Chosen models').first().fill('served')
  await page.getByRole('button', { name: 'Add the channel' }).click()
  await page.getByRole('heading', { name: 'vllm', exact: true }).waitFor()
  await page.getByRole('link', { name: 'served' }).waitFor()
})
