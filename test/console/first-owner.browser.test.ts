import { afterAll, beforeAll, expect, test } from 'vitest'
import { goodPassword, ownerEmail, setupToken } from '../support/admin-client.ts'
import { axe, type BrowserBed, fitsSideways, startBrowser } from '../support/browser.ts'

let bed: BrowserBed
beforeAll(async () => {
  bed = await startBrowser()
})
afterAll(() => bed?.close())

test('the printed link makes the first owner, who is signed in, signs out, and signs in again', async () => {
  const page = await bed.page()
  const address = /Open (\S+) to make the first owner/.exec(bed.gateway.stdout())?.[1] ?? ''
  expect(address).toBe(`${bed.gateway.url}/console/link#${await setupToken(bed.gateway)}`)

  await page.goto(address)
  await page.getByRole('heading', { name: 'Make the first owner' }).waitFor()
  await axe(page)
  const submit = page.getByRole('button', { name: 'Make the owner and sign in' })
  await page.getByLabel('E-mail').fill(ownerEmail)
  await page.getByLabel(/^Password/).fill('too short')
  await page.getByLabel('The password again').fill('too short')
  await submit.click()
  await page.getByText('Take 12 characters or more; 9 are here.').waitFor()
  await page.getByLabel(/^Password/).fill(goodPassword)
  await submit.click()
  await page.getByText('The two passwords differ.').waitFor()
  await page.getByLabel('The password again').fill(goodPassword)
  await submit.click()
  await page.waitForURL('**/console/set-up')

  await page.getByRole('button', { name: ownerEmail }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL('**/console/sign-in')
  expect(await page.context().cookies()).toEqual([])

  await page.goto('/console')
  await page.waitForURL('**/console/sign-in?to=%2Fconsole')
  await axe(page)
  await page.getByLabel('E-mail').fill(ownerEmail)
  await page.getByLabel(/^Password/).fill('not the password')
  await page.keyboard.press('Enter')
  await page.getByText('E-mail address, password or code are wrong.').waitFor()
  await page.getByLabel(/^Password/).fill(goodPassword)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${bed.gateway.url}/console`)
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()

  await page.goto(address)
  await page.getByRole('heading', { name: 'This link does not work' }).waitFor()
})

test('a link that is not whole says so, on a phone in the dark', async () => {
  const page = await bed.page({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
  await page.goto('/console/link')
  await page.getByRole('heading', { name: 'The link is not whole' }).waitFor()
  await axe(page)
  await fitsSideways(page)
})
