import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { chromium } from 'playwright-core'
import { adminClient, becomeOwner } from '../test/support/admin-client.ts'
import { freeKey, gatewayYaml, secretKey } from '../test/support/gateway-yaml.ts'
import { chromiumPath } from '../test/support/machine.ts'
import { startTollgate } from '../test/support/tollgate.ts'
import { startUpstream } from '../test/support/upstream.ts'
import { startTemporary } from './temporary-postgres.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

/**
 * Pictures of every page, light and dark, 1280 and 390 px wide: `npm run screenshots`. It starts a gateway of its own before a
 * scripted upstream, makes requests, and writes docs/images/pages/PAGE-light|dark-wide|phone.jpg. Build the pages first:
 * `npm run build:pages`.
 */
const folder = resolve(import.meta.dirname, '../docs/images/pages')
await mkdir(folder, { recursive: true })

const publicGroup = (url: string) =>
  gatewayYaml(url).replace(
    "- { name: default, models: ['*']",
    "- { name: default, public: true, models: ['*']",
  )
const postgres = await startTemporary()
const upstream = await startUpstream()
const gateway = await startTollgate({
  databaseUrl: postgres.url,
  gatewayYaml: publicGroup(upstream.url),
  env: { SECRET_KEY: secretKey, PAGES: 'console,home,models,docs' },
})
const api = adminClient(gateway.url)
const cookie = await becomeOwner(gateway, api)
const call = (method: string, path: string, body?: unknown) => api(method, path, { cookie, body })

const ids = await makeRequests()
for (const name of ['acme', 'globex', 'initech']) await call('POST', 'tenants', { name })
await call('POST', 'keys', { tenant: 'acme', name: 'ci', group: 'default' })
await call('POST', 'alerts', {
  name: 'Slow answers',
  condition: { kind: 'latency', of: 'model', name: 'main', above_ms: 2_000 },
})

/** Addresses by the name of their pictures. */
const pages: Record<string, string> = {
  overview: '/console?last=1h',
  log: '/console/log',
  'log-row': `/console/log/${ids.refused}`,
  jobs: '/console/jobs',
  playground: '/console/playground',
  tenants: '/console/tenants',
  tenant: `/console/tenants/${await firstOf('tenants')}`,
  keys: '/console/keys',
  key: `/console/keys/${await firstOf('keys')}`,
  groups: '/console/groups',
  users: '/console/users',
  channels: '/console/channels',
  channel: `/console/channels/${await firstOf('channels')}`,
  models: '/console/models',
  model: '/console/models/priced',
  'set-up': '/console/set-up',
  alerts: '/console/alerts?tab=rules',
  audit: '/console/audit',
  ledger: '/console/ledger',
  settings: '/console/settings',
  account: '/console/account',
  'sign-in': '/console/sign-in',
  home: '/',
  catalog: '/models',
  'catalog-model': '/models/priced',
  docs: '/docs',
  'docs-page': '/docs/tutorials/streaming',
}

const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] })
for (const colorScheme of ['light', 'dark'] as const) {
  for (const { width, name: size } of [
    { width: 1280, name: 'wide' },
    { width: 390, name: 'phone' },
  ]) {
    const context = await browser.newContext({
      baseURL: gateway.url,
      viewport: { width, height: size === 'wide' ? 800 : 844 },
      colorScheme,
      reducedMotion: 'reduce',
      locale: 'en-US',
      timezoneId: 'UTC',
    })
    const [name = '', value = ''] = cookie.split('=')
    await context.addCookies([{ name, value, url: gateway.url, httpOnly: true, sameSite: 'Lax' }])
    const page = await context.newPage()
    for (const [picture, address] of Object.entries(pages)) {
      await page.goto(address)
      await page.waitForLoadState('networkidle').catch(() => {})
      const path = join(folder, `${picture}-${colorScheme}-${size}.jpg`)
      await page.screenshot({ path, type: 'jpeg', quality: 70 })
    }
    await context.close()
  }
}
await browser.close()
await gateway.stop()
await upstream.close()
await postgres.stop()
console.log(`${Object.keys(pages).length * 4} pictures in ${folder}`)

/** Good, streamed, refused and unknown ones. */
async function makeRequests(): Promise<{ refused: string }> {
  const ask = async (body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${freeKey}`, ...headers },
      body: JSON.stringify(body),
    })
    await response.text()
    return response.headers.get('x-request-id') ?? ''
  }
  const messages = [
    { role: 'system', content: 'You are brief.' },
    { role: 'user', content: 'What is a toll gate?' },
  ]
  for (let sent = 0; sent < 40; sent++) {
    const model = sent % 3 === 0 ? 'priced' : 'main'
    await ask(
      { model, messages, stream: sent % 2 === 0, user: `user-${sent % 7}` },
      { 'x-tollgate-tags': 'team-a' },
    )
    if (sent % 9 === 0) await ask({ model: 'main', messages: 'not a list' })
  }
  const refused = await ask({ model: 'main', messages, temperature: 'hot' })
  return { refused }
}

async function firstOf(path: string): Promise<string> {
  const { body } = await call('GET', path)
  return body.data[0].id
}
