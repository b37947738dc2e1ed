import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BrowserBed, startBrowser } from '../support/browser.ts'

let bed: BrowserBed
beforeAll(async () => {
  bed = await startBrowser()
})
afterAll(() => bed?.close())

test('what a page shows is copied on plain HTTP too, where a page has no clipboard', async () => {
  const page = await bed.page()
  await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })')
  await page.goto('/')
  await page
    .getByRole('button', { name: /^Copy the base URL/ })
    .first()
    .click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await page.evaluate("document.body.append(document.createElement('textarea'))")
  await page.locator('body > textarea').focus()
  await page.keyboard.press('Control+v')
  await expect.poll(() => page.locator('body > textarea').inputValue()).toContain(bed.gateway.url)
})
