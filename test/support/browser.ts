import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { type AdminClient, adminClient, becomeOwner, goodPassword, ownerEmail } from './admin-client.ts'
import { chromiumPath } from './machine.ts'
import { type ProcessTestbed, startProcessTestbed } from './process-testbed.ts'
import { patienceMs } from './until.ts'

/** Somebody at a browser: a real Tollgate with all pages, its upstream and database, and a Chromium. */
export interface BrowserBed extends Omit<ProcessTestbed, 'tollgate' | 'close'> {
  gateway: ProcessTestbed['tollgate']
  browser: Browser
  /**
   * A page of its own browser profile, in English and UTC, 1280 x 800 and light unless `options` say otherwise. Call it in a
   * test: the page closes at the test's end, and the test fails when the page has broken its policy, logged an error or let
   * one escape, unless `forgives` fits it. A refused call of the API is not an error.
   */
  page(options?: BrowserContextOptions & { forgives?: RegExp }): Promise<Page>
  /** The first owner, made by the API. The second call returns the same. */
  makeOwner(): Promise<Owner>
  /** Make the page one of the owner's, without the form. It goes nowhere: call `page.goto` next. */
  signIn(page: Page): Promise<void>
  close(): Promise<void>
}

export interface Owner {
  email: string
  password: string
  /** `name=value`. */
  cookie: string
  /** Calls the admin API as the owner, such as `call('POST', 'keys', { ... })` with a body. */
  call(method: string, path: string, body?: unknown): ReturnType<AdminClient>
}

/** `env` and `yaml` are those of `startProcessTestbed`. */
export async function startBrowser(
  options: Parameters<typeof startProcessTestbed>[0] = {},
): Promise<BrowserBed> {
  const { tollgate: gateway, ...bed } = await startProcessTestbed({
    ...options,
    // On a busy machine, a count that stops after its time limit would be shown until the page is loaded again.
    env: { PAGES: 'console,home,models,docs', LOG_QUERY_MS: '60000', ...options.env },
  })
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] })
  const api = adminClient(gateway.url)
  let owner: Promise<Owner> | undefined

  async function newOwner(): Promise<Owner> {
    const cookie = await becomeOwner(gateway, api)
    return {
      email: ownerEmail,
      password: goodPassword,
      cookie,
      call: (method, path, body) => api(method, path, { cookie, body }),
    }
  }
  const makeOwner = () => {
    owner ??= newOwner()
    return owner
  }

  return {
    ...bed,
    gateway,
    browser,
    makeOwner,
    async page({ forgives, ...options } = {}) {
      const context = await browser.newContext({
        baseURL: gateway.url,
        viewport: { width: 1280, height: 800 },
        colorScheme: 'light',
        locale: 'en-US',
        timezoneId: 'UTC',
        reducedMotion: 'reduce',
        ...options,
      })
      const page = await context.newPage()
      page.setDefaultTimeout(patienceMs)
      const faults = await watch(page)
      onTestFinished(async ({ task }) => {
        if (task.result?.state === 'fail') await printPage(page)
        await context.close()
        const left = faults.filter((fault) => forgives?.test(fault) !== true)
        expect(left, 'the page has faults').toEqual([])
      })
      return page
    },
    async signIn(page) {
      const [name = '', value = ''] = (await makeOwner()).cookie.split('=')
      await page.context().addCookies([{ name, value, url: gateway.url, httpOnly: true, sameSite: 'Lax' }])
    },
    async close() {
      await browser.close()
      await bed.close()
    },
  }
}

/** Fails when axe finds something serious or critical. `within`: a selector of the part to look at. */
export async function axe(page: Page, within?: string): Promise<void> {
  // The other mode opens a page, with a process of its own, to join the findings of frames. Our pages have none.
  expect(page.frames(), `${page.url()} has frames`).toHaveLength(1)
  const builder = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  const { violations } = await (within === undefined ? builder : builder.include(within)).analyze()
  const bad = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
    )
  expect(bad, `axe at ${page.url()}`).toEqual([])
}

/** Fails when the page can be scrolled sideways. */
export async function fitsSideways(page: Page): Promise<void> {
  const { scrollWidth, clientWidth } = await page.evaluate<{ scrollWidth: number; clientWidth: number }>(
    '(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))(document.documentElement)',
  )
  expect(scrollWidth, `${page.url()} is wider than its window`).toBeLessThanOrEqual(clientWidth)
}

/** Fails when a list of the page hides its last columns. On a phone it may, and beside a row that is open. */
export async function listsFit(page: Page): Promise<void> {
  const hidden = await page.evaluate<string[]>(
    `(document.querySelector('aside[aria-label="The row that is open"]') === null ? [...document.querySelectorAll('[role=grid]')] : []).filter((grid) => grid.scrollWidth > grid.clientWidth)
      .map((grid) => grid.getAttribute('aria-label') + ' by ' + (grid.scrollWidth - grid.clientWidth) + ' px')`,
  )
  expect(hidden, `${page.url()} has lists that are wider than their place`).toEqual([])
}

/** For whoever reads the output of a test that failed: what its page showed at the end. */
async function printPage(page: Page): Promise<void> {
  const text = await page.evaluate<string>('document.body.innerText').catch(String)
  console.error(`${page.url()} showed:\n${text.slice(0, 2_000)}`)
}

/** The list grows while the page lives. */
async function watch(page: Page): Promise<string[]> {
  const faults: string[] = []
  await page.exposeFunction('reportViolation', (text: string) => faults.push(text))
  await page.addInitScript(
    `document.addEventListener('securitypolicyviolation', (event) =>
      reportViolation('policy: ' + event.effectiveDirective + ' of ' + event.blockedURI + ' ' + event.sample))`,
  )
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    const isRefusal = /^Failed to load resource: .* status of 4\d\d/.test(message.text())
    const isApi = /^\/(admin|v1|public)\//.test(pathOf(message.location().url))
    if (message.type() === 'error' && !(isRefusal && isApi)) faults.push(`console: ${message.text()}`)
  })
  return faults
}

function pathOf(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : ''
}
