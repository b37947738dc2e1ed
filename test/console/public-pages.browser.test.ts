import { afterAll, beforeAll, expect, test } from 'vitest'
import { axe, type BrowserBed, fitsSideways, startBrowser } from '../support/browser.ts'
import { gatewayYaml } from '../support/gateway-yaml.ts'
import { until } from '../support/until.ts'

let bed: BrowserBed
beforeAll(async () => {
  bed = await startBrowser({
    yaml: (url) => `
models:
  - { id: claude-main, aliases: [main], context_length: 200000, max_output_tokens: 64000, price: { input: "3.00", output: "15.00" }, traits: { thinking: effort } }
  - { id: acme/small, price: { input: "0.0375", output: "0.15" }, traits: { thinking: none } }
channels:
  - name: scripted
    protocols: { openai-chat: ${url} }
    api_keys: [ "upstream-credential-0001" ]
    models: { claude-main: claude-sonnet-5, acme/small: small }
    allow_private_address: true
groups:
  - { name: open, public: true, models: ['*'], channels: ['*'] }
  - { name: twice, public: true, models: ['acme/small'], channels: ['*'], price_multiplier: "2" }
tenants: []
`,
  })
})
afterAll(() => bed?.close())

const phone = { viewport: { width: 390, height: 844 } } as const

test.each([{}, { colorScheme: 'dark' as const }, phone])(
  'the pages fit their window: %j',
  async (options) => {
    const page = await bed.page(options)
    for (const path of ['/', '/models', '/models/acme/small', '/docs/reference/errors', '/docs/api/usage']) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await fitsSideways(page)
      await axe(page)
    }
  },
)

test.each([{}, phone])('tables about errors are not wider than their place: %j', async (options) => {
  const page = await bed.page(options)
  for (const path of ['/docs/reference/errors', '/docs/reference/reasons', '/docs/runbook']) {
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const wide = await page.evaluate<string[]>(
      `[...document.querySelectorAll('article .table')].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map((table) => table.getAttribute('aria-label') + ': ' + table.scrollWidth + ' in ' + table.clientWidth)`,
    )
    expect(wide, path).toEqual([])
  }
})

test('a visitor sees how to ask, and finds a model with its exact price', async () => {
  const page = await bed.page()
  await page.goto('/')
  await page.getByText(`${bed.gateway.url}/v1`, { exact: true }).waitFor()
  await page.getByRole('tab', { name: 'curl' }).click()
  await page.getByRole('tabpanel').getByText('$TOLLGATE_KEY').waitFor()
  expect(await page.getByRole('textbox').count()).toBe(0)

  await page.getByRole('navigation', { name: 'Site' }).getByRole('link', { name: 'Models' }).click()
  await page.getByRole('button', { name: 'reasoning' }).click()
  await page.waitForURL('**/models?feature=reasoning')
  await page.getByText('1 of 2 models').waitFor()
  await page.reload()
  await page.getByText('1 of 2 models').waitFor()
  await page.getByRole('button', { name: 'reasoning' }).click()
  await page.keyboard.press('/')
  await page.keyboard.type('acme')
  await page.getByText('1 of 2 models').waitFor()
  await page.getByRole('link', { name: 'acme/small' }).click()
  await page.waitForURL('**/models/acme/small')
  await page.getByRole('cell', { name: '$0.0375' }).waitFor()
  await page.getByRole('cell', { name: '$0.075', exact: true }).waitFor()
  // The tab that was chosen on another page.
  await page.getByRole('tab', { name: 'curl', selected: true }).waitFor()
  await page.getByRole('tabpanel').getByText('acme/small').waitFor()
})

test('a feature that was tried has the date of its proof', async () => {
  await bed.database.sql`
    INSERT INTO verdicts (channel_id, upstream_model, protocol, subject, origin, verdict, traits, evidence, decided_at)
    SELECT id, 'small', 'openai-chat', 'tools', 'probe', 'yes', '{"tools": true}', '', '2025-03-04T12:00:00Z' FROM channels`
  const page = await bed.page()
  await until(async () => {
    await page.goto('/models/acme/small')
    await page.getByRole('heading', { name: 'Features' }).waitFor()
    return (await page.getByText('proved').count()) > 0
  })
  const line = page.getByRole('listitem').filter({ hasText: 'proved' })
  expect(await line.allTextContents()).toEqual(['tools: yes, proved Mar 4, 2025'])
})

test('the search finds a setting, and leads to its heading', async () => {
  const page = await bed.page()
  await page.goto('/docs')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('SECRET_KEY')
  const options = page.getByRole('option')
  await options.first().waitFor()
  expect(await options.first().locator('mark').count()).toBeGreaterThan(0)
  await axe(page)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/docs\/.+/)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('a document has working anchors, and leads to the next one without a new start', async () => {
  const page = await bed.page()
  await page.goto('/docs/reference/endpoints#repeats')
  await expect.poll(() => page.locator('#repeats').isVisible()).toBe(true)
  expect((await page.locator('#repeats').boundingBox())?.y).toBeLessThan(400)
  await page.evaluate('window.isTheSame = true')
  await page
    .getByRole('navigation', { name: 'Next and previous page' })
    .getByRole('link', { name: /^Next/ })
    .click()
  await page.waitForURL((url) => url.pathname !== '/docs/reference/endpoints')
  expect(await page.evaluate('window.isTheSame')).toBe(true)
})

test('the code of tutorials and clients has the address of this gateway, copied too', async () => {
  const page = await bed.page({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto('/docs/tutorials/streaming')
  const code = page.locator('article pre').filter({ hasText: 'curl -N' }).first()
  await expect.poll(() => code.textContent()).toContain(`curl -N ${bed.gateway.url}/v1/chat/completions`)
  expect(await page.locator('article').textContent()).not.toContain('127.0.0.1:8787')
  await page.getByRole('button', { name: 'Copy the code' }).nth(2).click()
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain(bed.gateway.url)

  // What operators type on the machine itself stays.
  await page.goto('/docs/runbook')
  await page.getByText('curl http://127.0.0.1:8787/readyz').first().waitFor()
})

test('who has a key of this gateway starts with it, and asks a model of this gateway', async () => {
  const page = await bed.page()
  for (const path of ['/docs/tutorials/first-request', '/docs/clients/openai']) {
    await page.goto(path)
    const article = page.locator('article')
    await article.getByText('You need a key of this gateway').waitFor()
    await expect.poll(() => article.textContent()).toContain("model: 'acme/small'")
    expect(await article.textContent()).not.toMatch(/npm start|demo-|demo channel/)
  }
  // No public model makes images here.
  await page.goto('/docs/tutorials/images')
  await page.getByText('"model": "YOUR-IMAGE-MODEL"').first().waitFor()
})

test('the documents are there without JavaScript too', async () => {
  const { url } = bed.gateway
  const list = await (await fetch(`${url}/llms.txt`)).text()
  const paths = [...list.matchAll(/\]\((\/docs\/[^)]+\.md)\)/g)].map(([, path]) => path)
  expect(paths.length).toBeGreaterThan(50)
  const answer = await fetch(url + paths[0])
  expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  expect(await answer.text()).toMatch(/^# /)
})

test('without a public group the pages teach', async () => {
  const closed = await startBrowser({ yaml: gatewayYaml })
  try {
    const page = await closed.page()
    await page.goto('/models')
    await page.getByRole('heading', { name: 'The models here are not public' }).waitFor()
    await axe(page)
  } finally {
    await closed.close()
  }
})
