import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BrowserBed, startBrowser } from '../support/browser.ts'
import { until } from '../support/until.ts'

let bed: BrowserBed
beforeAll(async () => {
  bed = await startBrowser()
})
afterAll(() => bed?.close())

/** What somebody could write into a page, if a page showed foreign text as HTML: each does what the policy forbids. */
const attacks: readonly [directive: string, code: string][] = [
  ['script-src-elem', "add('script', { textContent: 'window.isHurt = true' })"],
  ['script-src-elem', "add('script', { src: 'https://elsewhere.example/x.js' })"],
  ['script-src-attr', "document.body.insertAdjacentHTML('beforeend', '<b onclick=x()></b>')"],
  // Later: the policy does not hold for code that the test itself evaluates.
  ['script-src', "window.setTimeout('window.isHurt = true', 0)"],
  ['style-src-elem', "add('style', { textContent: 'body { display: none }' })"],
  ['style-src-attr', "document.body.insertAdjacentHTML('beforeend', '<b style=color:red></b>')"],
  ['img-src', "add('img', { src: 'https://elsewhere.example/x.png' })"],
  ['connect-src', "fetch('https://elsewhere.example/').catch(() => {})"],
  ['frame-src', "add('iframe', { src: '/console' })"],
  ['base-uri', "add('base', { href: 'https://elsewhere.example/' })"],
  ['form-action', "add('form', { action: 'https://elsewhere.example/' }).submit()"],
  ['object-src', "add('object', { data: 'https://elsewhere.example/' })"],
]

test('a page runs no foreign code, and reaches no other host', async () => {
  const page = await bed.page({ forgives: /./ })
  await page.goto('/console/sign-in')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.evaluate(`
    window.broken = []
    document.addEventListener('securitypolicyviolation', (event) => broken.push(event.effectiveDirective))
    window.add = (name, members) => document.body.appendChild(Object.assign(document.createElement(name), members))
  `)
  for (const [directive, code] of attacks) {
    await page.evaluate(`{ broken.length = 0; ${code} }`)
    await until(async () => (await page.evaluate<string[]>('broken')).includes(directive)).catch(() => {
      expect.fail(`${directive} allows ${code}`)
    })
  }
  expect(await page.evaluate('window.isHurt')).toBeUndefined()
})

test('another site cannot put a page into a frame of its own', async () => {
  const page = await bed.page({ forgives: /./ })
  const told = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
  await page.setContent(`<iframe src="${bed.gateway.url}/console/sign-in"></iframe>`)
  await told
})
