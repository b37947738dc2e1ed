import { Secret, TOTP } from 'otpauth'
import decodeQR from 'qr/decode.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminClient, goodPassword, ownerEmail, setupToken, signedIn } from '../support/admin-client.ts'
import { axe, type BrowserBed, fitsSideways, startBrowser } from '../support/browser.ts'

let bed: BrowserBed
beforeAll(async () => {
  bed = await startBrowser()
})
afterAll(() => bed?.close())

test('the printed link makes the first owner, who is signed in, signs out, and signs in again', async () => {
  const page = await bed.page()
  const address = /Open (\S+) to create the first owner/.exec(bed.gateway.stdout())?.[1] ?? ''
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
  // By it, the next sign-in is that of a known browser. It signs no one in.
  expect((await page.context().cookies()).map(({ name }) => name)).toEqual(['tollgate-device'])

  await page.goto('/console')
  await page.waitForURL('**/console/sign-in?to=%2Fconsole')
  await axe(page)
  await page.getByLabel('E-mail').fill(ownerEmail)
  await page.getByLabel(/^Password/).fill('not the password')
  await page.keyboard.press('Enter')
  await page.getByText('The e-mail address, password or code is wrong.').waitFor()
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

test('the set-up of a second factor shows a QR code that an app reads, beside the secret in groups of four', async () => {
  const page = await bed.page({ colorScheme: 'dark' })
  await page.goto('/console/sign-in')
  await page.getByLabel('E-mail').fill(ownerEmail)
  await page.getByLabel(/^Password/).fill(goodPassword)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${bed.gateway.url}/console`)
  await page.goto('/console/account')
  const part = page.getByRole('region', { name: 'Second factor' })
  await part.getByRole('textbox', { name: 'Password' }).fill(goodPassword)
  await part.getByRole('button', { name: 'Set up second factor' }).click()
  const code = part.getByRole('img', { name: 'QR code of the secret' })
  await code.waitFor()
  const secret = (await part.locator('code').textContent()) ?? ''
  expect(secret).toMatch(/^([A-Z2-7]{4} )*[A-Z2-7]{1,4}$/)
  await part.getByRole('button', { name: 'Copy the secret' }).waitFor()
  const size = Number((await code.getAttribute('viewBox'))?.split(' ').at(-1))
  const read = new URL(decodeQR(pictureOf(size, (await code.locator('path').getAttribute('d')) ?? '')))
  expect(read.protocol).toBe('otpauth:')
  expect(read.searchParams.get('secret')).toBe(secret.replaceAll(' ', ''))
  await axe(page)
  // It is not on before its first code.
  await part.getByRole('button', { name: 'Cancel' }).click()
})

test('who has a second factor sets a new password by a link, and is asked for the code then', async () => {
  const call = adminClient(bed.gateway.url)
  const cookie = await signedIn(call, ownerEmail)
  const { body: factor } = await call('POST', 'second-factor', { cookie, body: { password: goodPassword } })
  const app = new TOTP({ secret: Secret.fromBase32(factor.secret) })
  const confirmed = await call('POST', 'second-factor/confirm', { cookie, body: { code: app.generate() } })
  expect(confirmed.status, JSON.stringify(confirmed.body)).toBe(200)
  const [recoveryCode = ''] = confirmed.body.recovery_codes
  const reset = await call('POST', `users/${confirmed.body.user.id}/reset-link`, { cookie })
  const page = await bed.page()
  await page.goto(`/console/link#${reset.body.token}`)
  const password = 'another horse battery'
  await page.getByLabel(/^Password/).fill(password)
  await page.getByLabel('The password again').fill(password)
  await page.getByRole('button', { name: 'Set the password and sign in' }).click()
  // The link is used: to try it again would only say that it does not work.
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.getByText('The password is set. Sign in with it.').waitFor()
  await page.getByLabel('E-mail').fill(ownerEmail)
  await page.getByLabel(/^Password/).fill(password)
  await page.keyboard.press('Enter')
  await page.getByLabel('Code').fill(recoveryCode)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${bed.gateway.url}/console`)
})

/** Draws the squares `Mx yh1v1h-1z` of a path, each as 4 x 4 dark pixels. */
function pictureOf(size: number, path: string) {
  const scale = 4
  const width = size * scale
  const data = new Uint8Array(width * width * 3).fill(255)
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let line = 0; line < scale; line++) {
      const start = ((Number(y) * scale + line) * width + Number(x) * scale) * 3
      data.fill(0, start, start + scale * 3)
    }
  return { width, height: width, data }
}
