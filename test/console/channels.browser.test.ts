import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { axe, type BrowserBed, fitsSideways, startBrowser } from '../support/browser.ts'
import { errorAnswer, planByModel } from '../support/upstream-plans.ts'

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

test('a channel of Amazon Bedrock is added without a key: its requests are signed', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/channels')
  await page.getByRole('button', { name: 'Add a channel' }).click()
  await page.getByLabel('Who serves it').first().click()
  await page.getByRole('option', { name: 'Amazon Bedrock' }).click()
  await page.getByLabel('Base URL').fill('https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1')
  await page.getByLabel('Sign each request (SigV4)').waitFor()
  await page.getByLabel('Chosen models').first().fill('gpt-oss')
  await page.keyboard.press('Enter')
  await axe(page)
  await page.getByRole('button', { name: 'Add the channel' }).click()
  await page.getByRole('heading', { name: 'bedrock', exact: true }).waitFor()
  const { call } = await bed.makeOwner()
  const stored = async () => (await call('GET', 'channels/bedrock')).body
  expect(await stored()).toMatchObject({ vendor: 'bedrock', auth: { kind: 'sigv4' } })

  await page.getByRole('button', { name: 'Edit the channel' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit bedrock' })
  await dialog.getByLabel('Role to assume').fill('models')
  await dialog.getByRole('button', { name: 'Save the channel' }).click()
  await dialog.getByText(/must be the ARN of a role/).waitFor()
  const role = 'arn:aws:iam::123456789012:role/models'
  await dialog.getByLabel('Role to assume').fill(role)
  await axe(page)
  await dialog.getByRole('button', { name: 'Save the channel' }).click()
  await page.getByText('Channel bedrock is saved').first().waitFor()
  expect(await stored()).toMatchObject({ auth: { kind: 'sigv4', role_arn: role } })
  await call('DELETE', 'channels/bedrock')
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

test('a channel of gateway.yaml is blocked on its page, which names the models it leaves, and unblocked', async () => {
  const owner = await bed.makeOwner()
  const page = await bed.page()
  await bed.signIn(page)
  const { body } = await owner.call('GET', 'channels?managed_by=file')
  const { id, name } = body.data[0]
  await page.goto(`/console/channels/${id}`)
  await page.getByRole('button', { name: 'Block channel' }).click()
  const dialog = page.getByRole('dialog', { name: 'Block channel?' })
  const block = dialog.getByRole('button', { name: 'Block channel' })
  await dialog.getByText(/main.* have no other channel that works\.$/).waitFor()
  expect(await block.isDisabled()).toBe(true)
  await dialog.getByLabel('Why, for your colleagues').fill('It answers nonsense')
  await block.click()
  const words = /blocked since .* by owner@example.com: It answers nonsense/
  await page.getByText(words).waitFor()
  await axe(page)
  expect((await owner.call('GET', `channels/${id}`)).body.blocked.reason).toBe('It answers nonsense')
  await page.goto('/console/channels?state=blocked')
  await page.getByText(words).first().waitFor()
  await page.goto(`/console/channels/${id}`)
  await page.getByRole('button', { name: 'Unblock channel' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Unblock channel' }).click()
  await page.getByText(`Channel ${name} is unblocked`).first().waitFor()
  expect((await owner.call('GET', `channels/${id}`)).body.blocked).toBe(null)
})

test('the test of a channel whose key is dead shows what the vendor says, without the key, and what to change', async () => {
  bed.upstream.script(() =>
    errorAnswer(401, { message: 'Incorrect API key provided: upstream-credential-0001.' }),
  )
  onTestFinished(() => bed.upstream.script(planByModel))
  const page = await bed.page()
  await bed.signIn(page)
  const { body } = await (await bed.makeOwner()).call('GET', 'channels?search=scripted')
  const { id } = body.data.find(({ name }: { name: string }) => name === 'scripted')
  await page.goto(`/console/channels/${id}`)
  await page.getByRole('button', { name: 'Test now' }).click()
  await page.getByText(/^It says: Incorrect API key provided/).waitFor()
  await page.getByText(/^Put a valid key under Credentials/).waitFor()
  expect(await page.getByText(/operator has to fix/).count()).toBe(0)
  expect(await page.content()).not.toContain('upstream-credential-0001')
  await axe(page)
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
  await page.getByText(/is a private address\. Turn on .* and try again/).waitFor()
  await page.getByLabel('It may have a private address').check()
  await page.getByText(/is a private address/).waitFor({ state: 'detached' })
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
  await page.getByRole('button', { name: 'Add a model' }).click()
  await page.getByRole('button', { name: 'Read its list of models' }).click()
  await page.getByLabel('large-vision').check()
  await page.getByRole('dialog').getByRole('combobox', { name: 'Model' }).fill('vision')
  await axe(page)
  await page.getByRole('button', { name: 'Add the model' }).click()
  await page.getByRole('link', { name: 'vision', exact: true }).waitFor()
  await page.getByText('there: large-vision').waitFor()
  const asked = bed.upstream.requests.find(({ path }) => path === '/v1/models')
  expect(asked?.headers.authorization).toBe('Bearer sk-secret-of-the-vendor-4242')
})

test('where the gateway allows no private address, the form says what to do and does not send one', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await page.route('**/admin/v1/settings', async (route) => {
    const response = await route.fetch()
    const { environment, ...body } = await response.json()
    const without = (environment as { name: string }[]).map((setting) =>
      setting.name === 'PRIVATE_ADDRESSES' ? { ...setting, value: null } : setting,
    )
    await route.fulfill({ response, json: { ...body, environment: without } })
  })
  await page.goto('/console/channels')
  await page.getByRole('button', { name: 'Add a channel' }).click()
  await page.getByLabel('Who serves it').first().click()
  await page.getByRole('option', { name: 'vLLM' }).click()
  const allow = page.getByLabel('It may have a private address')
  await expect.poll(() => allow.isDisabled()).toBe(true)
  expect(await allow.isChecked()).toBe(false)
  await page
    .getByText(/^This gateway allows its channels no private address\. Set PRIVATE_ADDRESSES/)
    .waitFor()
  await page.getByLabel('Base URL').fill(bed.upstream.url)
  await page.getByRole('button', { name: 'Read its list of models' }).click()
  await page.getByText(/is a private address\. This gateway allows its channels no private address/).waitFor()
  await axe(page)
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

test('a channel is made, and its settings, a header, a credential and a model are changed by forms', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/channels')
  await page.getByRole('button', { name: 'Add a channel' }).click()
  await page.getByLabel('Who serves it').first().click()
  await page.getByRole('option', { name: 'Mistral' }).click()
  await page.getByLabel('Key of the vendor').fill('sk-secret-of-the-vendor-1111')
  await page.getByLabel('Chosen models').first().fill('formed-model')
  await page.keyboard.press('Enter')
  await page.getByLabel('Name of the channel').fill('formed')
  await page.getByRole('button', { name: 'Add the channel' }).click()
  await page.getByRole('heading', { name: 'formed', exact: true }).waitFor()
  const { call } = await bed.makeOwner()
  const stored = async () => (await call('GET', 'channels/formed')).body

  const edit = async () => {
    await page.getByRole('button', { name: 'Edit the channel' }).click()
    return page.getByRole('dialog', { name: 'Edit formed' })
  }
  const dialog = await edit()
  await dialog.getByLabel('Priority').fill('-5')
  await dialog.getByLabel('To connect').fill('999999999')
  for (const [index, [name, value]] of Object.entries({ 'x-team': 'first', authorization: 'no' }).entries()) {
    await dialog.getByRole('button', { name: 'Add a header' }).click()
    await dialog.getByLabel(`Name of header ${index + 1}`).fill(name)
    await dialog.getByLabel(`Value of ${name}`, { exact: true }).fill(value)
  }
  const save = dialog.getByRole('button', { name: 'Save the channel' })
  await save.click()
  await dialog.getByText(/^authorization: is a header that Tollgate sets itself/).waitFor()
  await dialog.getByRole('button', { name: 'Remove authorization' }).click()
  await save.click()
  await dialog.getByText(/UPSTREAM_CONNECT_MS/).waitFor()
  expect(await dialog.getByLabel('To connect').getAttribute('aria-invalid')).toBe('true')
  await axe(page)
  await dialog.getByLabel('To connect').fill('1500')
  await save.click()
  await page.getByText('Channel formed is saved').first().waitFor()
  expect(await stored()).toMatchObject({ priority: -5, headers: ['x-team'], timeouts: { connect_ms: 1500 } })

  const again = await edit()
  expect(await again.getByLabel('Name of header 1').inputValue()).toBe('x-team')
  expect(await again.getByLabel('Value of x-team', { exact: true }).inputValue()).toBe('')
  const change = page.waitForRequest((request) => request.method() === 'PATCH')
  await again.getByLabel('Value of x-team', { exact: true }).fill('second')
  await again.getByRole('button', { name: 'Add a header' }).click()
  await again.getByLabel('Name of header 2').fill('x-region')
  await again.getByLabel('Value of x-region', { exact: true }).fill('eu')
  await again.getByRole('button', { name: 'Save the channel' }).click()
  expect((await change).postDataJSON()).toEqual({ headers: { 'x-team': 'second', 'x-region': 'eu' } })
  await page.getByText('x-team, x-region').waitFor()

  await page.getByRole('button', { name: 'Replace' }).click()
  await page.getByLabel('Secret').first().fill('sk-secret-of-the-vendor-2222')
  await page.getByRole('button', { name: 'Store the credential' }).click()
  await page.getByText('…2222').waitFor()
  expect(await page.getByText('…1111').count()).toBe(0)

  await page.getByRole('button', { name: 'Change formed-model' }).click()
  await page.getByLabel('Its name at the upstream').fill('mistral-large-latest')
  await page.getByRole('button', { name: 'Save the model' }).click()
  await page.getByText('there: mistral-large-latest').waitFor()
  await axe(page)
})

test('a model is changed by a form, and its page shows what is stated', async () => {
  const { call } = await bed.makeOwner()
  await call('POST', 'models', { id: 'by-form', traits: { tools: false } })
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/models/by-form')
  await page.getByRole('button', { name: 'Edit the model' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit by-form' })
  await dialog.getByLabel('Aliases').first().fill('other-name')
  await page.keyboard.press('Enter')
  await dialog.getByLabel('Fallbacks').first().fill('nothing')
  await page.keyboard.press('Enter')
  await dialog.getByLabel('Context, tokens').fill('128000')
  await dialog.getByRole('button', { name: 'Save the model' }).click()
  await dialog
    .getByText(/model "nothing"|"nothing"/)
    .first()
    .waitFor()
  // The list of suggestions, which the field with the error opens, is walked with the arrow keys.
  await dialog.getByLabel('Context, tokens').focus()
  await axe(page)
  await dialog.getByLabel('Fallbacks').first().press('Backspace')
  await dialog.getByRole('button', { name: 'Save the model' }).click()
  await page.getByText('Model by-form is saved').first().waitFor()
  const settings = page.getByRole('region', { name: 'Settings' })
  await settings.getByText('other-name').first().waitFor()
  expect(await settings.getByRole('region', { name: 'Stated traits' }).textContent()).toMatch(/tools\s*no/)
  const { body } = await call('GET', 'models/by-form')
  expect(body).toMatchObject({ aliases: ['other-name'], fallbacks: [], context_length: 128_000 })
})

test('a channel says why it does not answer and which models have no other, before it is blocked', async () => {
  const { call } = await bed.makeOwner()
  for (const id of ['lonely', 'shared']) await call('POST', 'models', { id })
  const made = (name: string, models: string[]) =>
    call('POST', 'channels', {
      ...{ name, models, api_keys: ['a-key'] },
      protocols: { 'openai-chat': 'https://upstream.example/v1' },
    })
  const { body: channel } = await made('last-one', ['lonely', 'shared'])
  await made('other-one', ['shared'])
  const page = await bed.page()
  await bed.signIn(page)
  const path = `/console/channels/${channel.id}`
  const said = { reported_in: 1, processes: 1, since: new Date().toISOString() }
  const withHealth = async (more: object) => {
    await page.unroute('**/admin/v1/health')
    const { body: health } = await call('GET', 'health')
    const channels = health.channels.map((one: { name: string }) =>
      one.name === 'last-one' ? { ...one, ...more } : one,
    )
    await page.route('**/admin/v1/health', (route) => route.fulfill({ json: { ...health, channels } }))
    await page.goto(path)
  }
  const notice = page.getByRole('main')
  await withHealth({ silent: { ...said, waiting: 73, oldest_ms: 55_000 } })
  await notice
    .getByText(/^73 requests wait for its answer, the oldest for 55 s\. It has answered none since/)
    .waitFor()
  await notice.getByText(/lonely has no other channel that works\.$/).waitFor()
  await axe(page)
  await withHealth({ refused: { ...said, reason: 'upstream_error, status 401' } })
  await notice
    .getByText(/^The vendor refuses its only credential since .*: upstream_error, status 401\./)
    .waitFor()
  await notice
    .getByText(/lonely has no other channel that works\. Other channels get its other requests\.$/)
    .waitFor()
  await page.unroute('**/admin/v1/health')
  await page.goto(path)
  await page.getByRole('button', { name: 'Block channel' }).click()
  const dialog = page.getByRole('dialog', { name: 'Block channel?' })
  await dialog.getByText('lonely has no other channel that works.').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect((await call('GET', `channels/${channel.id}`)).body).toMatchObject({
    state: 'enabled',
    blocked: null,
  })
})
