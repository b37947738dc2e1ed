import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, type BrowserBed, startBrowser } from '../support/browser.ts'

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
