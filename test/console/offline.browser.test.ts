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
