import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminClient, goodPassword, join } from '../support/admin-client.ts'
import { type BrowserBed, type Owner, startBrowser } from '../support/browser.ts'
import { chooseKey } from '../support/choose-key.ts'

/** A page whose session has ended elsewhere, and what is left in a browser when somebody has signed out. */

let bed: BrowserBed
let owner: Owner
beforeAll(async () => {
  bed = await startBrowser()
  owner = await bed.makeOwner()
})
afterAll(() => bed?.close())

const email = 'guest@example.com'

async function signIn(page: Page, who: string): Promise<void> {
  await page.getByLabel('E-mail').fill(who)
  await page.getByRole('textbox', { name: 'Password' }).fill(goodPassword)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('button', { name: who }).waitFor()
}

async function signOut(page: Page, who: string): Promise<void> {
  await page.getByRole('button', { name: who }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
}

test('a page whose session has ended leads to the sign-in and back, and lets its reader sign out', async () => {
  const guest = await join(adminClient(bed.gateway.url), owner.cookie, { email, role: 'viewer' })
  const end = async () => expect((await owner.call('DELETE', `users/${guest.id}/sessions`)).status).toBe(200)
  const page = await bed.page()
  await page.goto('/console/log?outcome=failed')
  await signIn(page, email)
  await page.getByRole('button', { name: 'Refresh' }).waitFor()
  await end()
  // What the page reads by itself may have noticed before.
  const again = page.getByRole('button', { name: 'Refresh' })
  const atSignIn = page.getByRole('heading', { name: 'Sign in' })
  await Promise.any([again.click(), atSignIn.waitFor()])
  await atSignIn.waitFor()
  await signIn(page, email)
  expect(new URL(page.url()).search).toBe('?outcome=failed')

  // Nothing on the page can notice that it ended before the sign-out: what it reads by itself waits.
  await page.getByRole('button', { name: 'Refresh' }).waitFor()
  const signedOut = Promise.withResolvers<void>()
  await page.route('**/admin/v1/**', async (route) => {
    if (route.request().method() === 'DELETE') signedOut.resolve()
    await signedOut.promise
    await route.continue()
  })
  await end()
  await signOut(page, email)
})

test('what somebody wrote in the playground is not there for the next one in the same tab', async () => {
  const page = await bed.page()
  await page.goto('/console/playground?endpoint=/v1/chat/completions&model=main')
  await signIn(page, owner.email)
  await chooseKey(page, 'free / free')
  const written = page.getByLabel('Text of message 1')
  await written.fill('only for my eyes')
  await page.getByRole('button', { name: 'Send the request' }).click()
  await page.getByRole('link', { name: 'See its row' }).waitFor()
  // It is there for its own writer.
  await page.goto('/console/playground')
  await expect.poll(() => written.inputValue()).toBe('only for my eyes')
  const cookies = await page.context().cookies()

  // The session ends without a sign-out, and somebody else signs in.
  // No page is open that would lead to the sign-in by itself.
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.goto('/console/playground')
  await signIn(page, email)
  await written.waitFor()
  expect(await written.inputValue()).not.toBe('only for my eyes')

  await page.context().addCookies(cookies)
  await page.goto('/console/playground')
  await expect.poll(() => written.inputValue()).toBe('only for my eyes')
  await signOut(page, owner.email)
  const left = await page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')
  expect(left).not.toContain('only for my eyes')
})
