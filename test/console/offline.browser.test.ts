import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, type BrowserBed, startBrowser } from '../support/browser.ts'

/** The console without the network, in a low window, and at its door. */

let bed: BrowserBed
beforeAll(async () => {
  bed = await startBrowser()
})
afterAll(() => bed?.close())

const failedLoads = /Failed to load resource|ERR_INTERNET_DISCONNECTED|dynamically imported|does not answer/

test('without the network the menu leads to a page of ours, rows stay, and all is read again when it returns', async () => {
  const page = await bed.page({ forgives: failedLoads })
  await bed.signIn(page)
  await page.goto('/console/channels')
  const rows = page.getByRole('grid', { name: 'Channels' })
  await rows.getByText('scripted').waitFor()
  await page.context().setOffline(true)
  await page.getByText(/^You are offline/).waitFor()
  const made = await (await bed.makeOwner()).call('POST', 'channels', {
    name: 'made-meanwhile',
    protocols: { 'openai-chat': bed.upstream.url },
    api_keys: ['credential-made-meanwhile'],
    models: {},
    allow_private_address: true,
  })
  expect(made.status).toBe(201)
  expect(await rows.getByText('scripted').count()).toBe(1)
  await page.context().setOffline(false)
  await rows.getByText('made-meanwhile').waitFor()
  await page.getByText(/^You are offline/).waitFor({ state: 'detached' })

  await page.context().setOffline(true)
  await page.getByRole('link', { name: /^Audit/ }).click()
  await page.getByRole('main').first().getByText('No answer').waitFor()
  expect(new URL(page.url()).pathname).toBe('/console/audit')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText(/^You are offline/).waitFor()
  await axe(page)
  await page.context().setOffline(false)
  await page.getByRole('heading', { name: 'Audit', exact: true }).waitFor()
})

test('without Postgres the console says who is served meanwhile, and comes back by itself', async () => {
  const page = await bed.page({ forgives: failedLoads })
  await bed.signIn(page)
  let isAway = true
  await page.route('**/admin/v1/session', (route) =>
    isAway
      ? route.fulfill({
          status: 503,
          headers: { 'x-tollgate-reason': 'database_away', 'content-type': 'application/problem+json' },
          json: { title: 'Temporarily unavailable', detail: 'The database does not answer.' },
        })
      : route.continue(),
  )
  await page.goto('/console/channels')
  await page.getByText(/^Requests to models go on/).waitFor()
  expect(await page.getByRole('link', { name: 'What to do' }).getAttribute('href')).toBe(
    '/docs/runbook#database_away',
  )
  await axe(page)
  isAway = false
  await page.getByRole('heading', { name: 'Channels', exact: true }).waitFor()
})

test('what is typed while the palette is still loaded, or opens, arrives in it', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  const { promise: mayLoad, resolve: load } = Promise.withResolvers<void>()
  await page.route('**/palette-*.js', async (route) => {
    await mayLoad
    await route.continue()
  })
  await page.goto('/console')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  const find = page.getByRole('button', { name: /^Find anything/ })
  await find.focus()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('gte')
  load()
  const input = page.getByPlaceholder(/^A page, tenant/)
  await input.waitFor()
  await page.keyboard.type('n')
  await expect.poll(() => input.inputValue()).toBe('gten')
  await page.keyboard.press('Escape')
  await input.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.keyboard.type('Tenants')
  await expect.poll(() => input.inputValue()).toBe('Tenants')
  await page.getByRole('dialog').getByText('G T').waitFor()
  await page.keyboard.press('Escape')
  await input.waitFor({ state: 'detached' })
  expect(await page.evaluate<string>('document.activeElement.textContent')).toMatch(/^Find anything/)
})

test('in a low window the page itself does not scroll: its parts do', async () => {
  const page = await bed.page({ viewport: { width: 1366, height: 650 } })
  await bed.signIn(page)
  // For a table that only screen readers have, far down on the page of the channel.
  const asked = await bed.chat({ model: 'main', messages: [{ role: 'user', content: 'Hello' }] })
  await bed.row(asked.headers.get('x-request-id'))
  const { body } = await (await bed.makeOwner()).call('GET', 'channels')
  for (const address of [
    '/console',
    '/console/log',
    '/console/channels',
    `/console/channels/${body.data[0].id}`,
  ]) {
    await page.goto(address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    const beyond = await page.evaluate<number>('document.documentElement.scrollHeight - window.innerHeight')
    expect(beyond, address).toBeLessThanOrEqual(0)
  }
})

test('the sign-in shows the logo, and says what to do about a forgotten password', async () => {
  const page = await bed.page()
  await page.goto('/console/sign-in')
  await page.getByText('Forgotten your password?').click()
  await page.getByText(/Ask an owner/).waitFor()
  // `decode` waits for the picture to arrive, and fails if it is not one.
  await page.evaluate('document.images[0].decode()')
  expect(await page.evaluate<number>('document.images[0].naturalWidth')).toBeGreaterThan(0)
  await axe(page)
})
