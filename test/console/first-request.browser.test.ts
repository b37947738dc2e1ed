import { afterAll, beforeAll, expect, test } from 'vitest'
import { setupToken } from '../support/admin-client.ts'
import { axe, type BrowserBed, startBrowser } from '../support/browser.ts'
import { chooseKey } from '../support/choose-key.ts'
import { gatewayYaml } from '../support/gateway-yaml.ts'

let bed: BrowserBed
beforeAll(async () => {
  // The set-up takes the first key: it must be one whose money is not limited.
  bed = await startBrowser({ yaml: (url) => gatewayYaml(url).replace(/ {2}- name: paid[\s\S]*$/, '') })
})
afterAll(() => bed?.close())

test('from the printed link to the row of the first request, by the pages alone', async () => {
  const page = await bed.page()
  await page.goto(`/console/link#${await setupToken(bed.gateway)}`)
  await page.getByLabel('E-mail').fill('first@example.com')
  await page.getByLabel(/^Password/).fill('a password of some length')
  await page.getByLabel('The password again').fill('a password of some length')
  await page.getByRole('button', { name: 'Make the owner and sign in' }).click()
  await page.waitForURL('**/console/set-up')
  await page.getByRole('button', { name: 'Send a first request' }).click()
  await page.getByText('See its row').first().click()
  await page.waitForURL('**/console/log/*')
  await page.getByText('Attempt 1: scripted').waitFor()
  await axe(page)
})

test('by the keyboard alone: sign out and in, find the log, open a row, close it, go to the keys', async () => {
  const page = await bed.page()
  await page.goto('/console/sign-in')
  await page.getByLabel('E-mail').focus()
  await page.keyboard.type('first@example.com')
  await page.keyboard.press('Tab')
  await page.keyboard.type('a password of some length')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${bed.gateway.url}/console`)
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder(/^A page, tenant/).waitFor()
  await page.keyboard.type('Log')
  await page.getByRole('dialog').getByText('G L').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/log')
  await page.getByRole('gridcell').first().waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/log/*')
  await page.keyboard.press('Escape')
  await page.waitForURL('**/console/log')
  await page.keyboard.press('g')
  await page.keyboard.press('k')
  await page.waitForURL('**/console/keys')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
})

const formats = ['/v1/chat/completions', '/v1/responses', '/v1/messages']

test.each(formats)(
  'the playground streams in the format of %s, with the wire of both sides',
  async (endpoint) => {
    const page = await bed.page()
    await page.goto('/console/sign-in')
    await page.getByLabel('E-mail').fill('first@example.com')
    await page.getByLabel(/^Password/).fill('a password of some length')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${bed.gateway.url}/console`)
    await page.goto(`/console/playground?endpoint=${endpoint}&model=main`)
    await chooseKey(page, 'free / free')
    await page.getByLabel('Text of message 1').fill('Hello')
    await page.getByRole('button', { name: 'Send the request' }).click()
    const row = page.getByRole('link', { name: 'See its row' })
    await row.waitFor()
    await page.getByText('scripted').first().waitFor()
    const id = (await row.getAttribute('href'))?.split('/').at(-1) ?? ''
    expect(await bed.row(id)).toMatchObject({ endpoint, status: 200, outcome: 'succeeded', stream: true })
  },
)
