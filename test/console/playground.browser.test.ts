import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminClient, goodPassword, join } from '../support/admin-client.ts'
import { axe, type BrowserBed, startBrowser } from '../support/browser.ts'
import { chooseKey } from '../support/choose-key.ts'

let bed: BrowserBed
beforeAll(async () => {
  bed = await startBrowser()
})
afterAll(() => bed?.close())

test('a running stream is cancelled by its button: the answer stops, and its row says that the client left', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  const { body } = await (await bed.makeOwner()).call('GET', 'keys')
  const { id: key } = body.data.find(({ name }: { name: string }) => name === 'abort')
  // More than anybody waits for: it ends only because somebody ends it.
  await page.goto(`/console/playground?model=paced-100000x100&key=${key}`)
  await page.getByLabel('Text of message 1').fill('Hello')
  await page.getByRole('button', { name: 'Send the request' }).click()
  const text = page.getByRole('region', { name: 'Text of the answer' })
  await text.getByText('token-3').waitFor()
  await page.getByRole('button', { name: 'Cancel the request' }).click()
  await page.getByText('cancelled', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Send the request' }).waitFor()
  const asked = bed.upstream.requests.find(({ model }) => model === 'paced-100000x100')
  await expect.poll(() => asked?.closedEarly).toBe(true)
  await text.getByText('token-3').waitFor()

  const link = page.getByRole('link', { name: 'See its row' })
  const id = (await link.getAttribute('href'))?.split('/').at(-1) ?? ''
  expect(await bed.row(id)).toMatchObject({
    outcome: 'cancelled',
    stream_end: 'client_gone',
    stream: true,
    requested_model: 'paced-100000x100',
  })
  await link.click()
  await page.waitForURL(`**/console/log/${id}`)
  const sheet = page.getByRole('complementary', { name: 'The row that is open' })
  await sheet.getByRole('heading', { name: /streamed, cancelled$/ }).waitFor()
  await axe(page)
})

test('the playground asks which key pays, says whose it is, and remembers the choice of this user alone', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/playground?endpoint=/v1/chat/completions&model=main')
  const send = page.getByRole('button', { name: 'Send the request' })
  await page.getByText('Choose a key: its tenant pays').waitFor()
  await page.getByLabel('Text of message 1').fill('Hello')
  expect(await send.isDisabled()).toBe(true)
  await page.keyboard.press('Control+Enter')
  await chooseKey(page, 'free / abort')
  await page.getByText('free pays for each request: it is made under its key abort.').waitFor()
  await axe(page)
  await send.click()
  const link = page.getByRole('link', { name: 'See its row' })
  const id = (await link.getAttribute('href'))?.split('/').at(-1) ?? ''
  const abort = await (await bed.makeOwner()).call('GET', 'keys?name=abort')
  expect(await bed.row(id)).toMatchObject({ key_id: abort.body.data[0].id, status: 200 })
  expect(bed.upstream.requests.filter(({ model }) => model === 'upstream-main')).toHaveLength(1)

  // A link that names a key does not change the choice.
  const { body } = await (await bed.makeOwner()).call('GET', 'keys?tenant=paid')
  await page.goto(`/console/playground?key=${body.data[0].id}`)
  await page.getByText('paid pays for each request').waitFor()
  await page.goto('/console/playground')
  await page.getByText('free pays for each request').waitFor()
  await page.waitForURL(/key=/)

  const email = 'other@example.com'
  await join(adminClient(bed.gateway.url), (await bed.makeOwner()).cookie, { email, role: 'admin' })
  await page.context().clearCookies()
  await page.goto('/console/sign-in')
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(goodPassword)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('button', { name: email }).waitFor()
  await page.goto('/console/playground')
  await page.getByText('Choose a key: its tenant pays').waitFor()
  // The entry for any other name is not a model that can be asked.
  await expect.poll(() => page.getByPlaceholder("A model's id").inputValue()).toBe('main')
})
