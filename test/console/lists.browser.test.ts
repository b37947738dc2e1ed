import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isCostUnknown } from '../../console/src/format/money.ts'
import { axe, type BrowserBed, fitsSideways, listsFit, type Owner, startBrowser } from '../support/browser.ts'
import { until } from '../support/until.ts'

/** The lists of channels and models, and the pages of one: what they sort, filter and say is what the API answers. */

const hourMs = 3_600_000
/** All requests are of this hour. */
const busy = Math.floor(Date.now() / hourMs) * hourMs - 3 * hourMs
const at = (ms: number) => new Date(ms).toISOString()
const span = `from=${at(busy)}&to=${at(busy + hourMs)}`

interface Sums {
  requests: number
  errors: number
  cost_nano_usd: string
  unpriced_requests: number
  latency_ms: { first_token: { p50: number; p95: number } | null }
}

let bed: BrowserBed
let owner: Owner
let tenant: string
let sent = 0

beforeAll(async () => {
  bed = await startBrowser()
  owner = await bed.makeOwner()
  tenant = (await bed.database.sql<{ id: string }[]>`select id from tenants where name = 'free'`)[0]?.id ?? ''
  const channel = (name: string, more: object) =>
    owner.call('POST', 'channels', {
      name,
      protocols: { 'openai-chat': bed.upstream.url },
      api_keys: [`credential-of-${name}-1`],
      allow_private_address: true,
      ...more,
    })
  for (const id of ['large', 'small', 'unpriced'])
    await owner.call('POST', 'models', {
      id,
      ...(id === 'unpriced' ? {} : { price: { input: id === 'large' ? '5' : '0.5', output: '10' } }),
      ...(id === 'large' ? { aliases: ['largest'] } : {}),
    })
  const made = [
    await channel('openai-eu', { models: { large: 'large', small: 'small' } }),
    await channel('azure', {
      models: { large: 'large' },
      api_keys: ['credential-of-azure-1', 'credential-of-azure-2'],
    }),
    await channel('spare', { models: { small: 'small' } }),
  ]
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201])
  expect((await owner.call('POST', 'channels/spare/disable')).status).toBe(200)
  const failed = { ...failedWith('upstream_error', 502), first_token_ms: null, cost_nano: null }
  for (let n = 0; n < 40; n++)
    await add('openai-eu', 'large', { first_token_ms: 400 + n, cost_nano: 50_000_000 })
  for (let n = 0; n < 10; n++) await add('azure', 'largest', { first_token_ms: 900, cost_nano: 10_000_000 })
  for (let n = 0; n < 5; n++) await add('azure', 'large', failed)
  for (let n = 0; n < 3; n++) await add('scripted', 'unpriced', { cost_nano: null })
  for (let n = 0; n < 2; n++) await add('scripted', 'gpt-of-tomorrow', { cost_nano: 1_000 })
})
afterAll(() => bed?.close())

function failedWith(kind: string, status: number) {
  return { status, outcome: 'failed', error_kind: kind }
}

async function add(channel: string, model: string, changes: Record<string, unknown>): Promise<void> {
  const ms = busy + 1_000 * sent++
  const time = ms.toString(16).padStart(12, '0')
  await bed.database.sql`insert into requests ${bed.database.sql({
    id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`,
    created_at: new Date(ms),
    tenant_id: tenant,
    endpoint: '/v1/chat/completions',
    requested_model: model,
    channel,
    stream: true,
    status: 200,
    outcome: 'succeeded',
    usage_source: 'upstream',
    attempt_count: 1,
    total_ms: 2_000,
    first_token_ms: 100,
    folded: 1,
    ...changes,
  })}`
}

async function sumsBy(part: 'channel' | 'model'): Promise<Map<string, Sums>> {
  const { body } = await owner.call('GET', `summary?group_by=${part}&${span}&limit=200`)
  return new Map((body.data as (Sums & Record<string, string>)[]).map((row) => [row[part] ?? '', row]))
}

async function named(list: string): Promise<string[]> {
  const { body } = await owner.call('GET', list)
  return (body.data as { id: string; name?: string }[]).map(({ id, name }) => name ?? id)
}

async function open(address: string, options: Parameters<BrowserBed['page']>[0] = {}): Promise<Page> {
  const page = await bed.page(options)
  await bed.signIn(page)
  await page.goto(address)
  await page.getByRole('row').nth(1).waitFor()
  return page
}

/** The first words of each row, from the top. */
async function shown(page: Page, column: 'name' | 'id'): Promise<string[]> {
  const cells = await page.locator(`[role=gridcell][data-column=${column}]`).allInnerTexts()
  return cells.map((text) => (text.startsWith('*') ? '*' : (text.split(/\s/)[0] ?? '')))
}

/** As the page sorts: what has no value is last, and equal rows stay in the order of their names. */
function inOrder(
  names: readonly string[],
  of: (name: string) => string | number | undefined,
  way: 1 | -1,
): string[] {
  return names.toSorted().toSorted((a, b) => {
    const [left, right] = [of(a), of(b)]
    if (left === right) return 0
    if (left === undefined || right === undefined) return left === undefined ? 1 : -1
    return way * (left < right ? -1 : 1)
  })
}

async function choose(page: Page, filter: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: filter, exact: true }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

/** Clicks each head twice, and compares each order with what the sums say. */
async function everySort(
  page: Page,
  column: 'name' | 'id',
  heads: Record<string, (name: string) => string | number | undefined>,
): Promise<void> {
  const names = await shown(page, column)
  for (const [head, of] of Object.entries(heads)) {
    for (const way of [-1, 1] as const) {
      await page.getByRole('columnheader', { name: head, exact: true }).getByRole('button').click()
      await page
        .locator(`[role=columnheader][aria-sort=${way === 1 ? 'ascending' : 'descending'}]`, {
          hasText: head,
        })
        .waitFor()
      expect(await shown(page, column), `${head}, ${way}`).toEqual(inOrder(names, of, way))
    }
  }
}

const rateOf = (sums: Sums | undefined) =>
  sums === undefined || sums.requests === 0 ? undefined : sums.errors / sums.requests
const costOf = (sums: Sums | undefined) =>
  sums === undefined || sums.requests === 0 || isCostUnknown(sums) ? undefined : Number(sums.cost_nano_usd)

test('no number, cost or status of the log is cut, in a window of 1280 with scroll bars', async () => {
  const before = busy - 48 * hourMs
  const then = (n: number) => {
    const time = (before + n).toString(16).padStart(12, '0')
    return {
      id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`,
      created_at: new Date(before + n),
    }
  }
  await add('gone', 'priciest', {
    ...then(1),
    ...failedWith('upstream_overloaded', 529),
    cost_nano: 12_345_678_000_000,
    input_tokens: 888_888,
    output_tokens: 888_888,
    total_ms: 599_900,
    first_token_ms: 59_900,
  })
  for (const nano of [9_000, 54_000, 8_800]) await add('gone', 'cheapest', { ...then(nano), cost_nano: nano })
  // As wide as the page is beside the scroll bars of Windows and Linux.
  const page = await open(`/console/log?from=${at(before)}&to=${at(before + hourMs)}`, {
    viewport: { width: 1265, height: 800 },
  })
  await page.getByText('529 upstream_overloaded').waitFor()
  const cut = await page.evaluate<string[]>(
    `['created_at', 'status', 'input', 'output', 'cost', 'first_token', 'total'].flatMap((column) =>
      [...document.querySelectorAll('[role=gridcell][data-column=' + column + '], [role=gridcell][data-column=' + column + '] span')])
      .filter((cell) => cell.scrollWidth > cell.clientWidth && cell.clientWidth > 0).map((cell) => cell.textContent + ' ' + cell.scrollWidth + ' ' + cell.clientWidth)`,
  )
  expect(cut).toEqual([])
  await listsFit(page)
})

test('channels are sorted by what the sums say of them', async () => {
  const page = await open(`/console/channels?${span}`)
  const sums = await sumsBy('channel')
  const { body } = await owner.call('GET', 'channels')
  const channels = new Map(
    (body.data as { name: string; credentials: unknown[]; models: object }[]).map((one) => [one.name, one]),
  )
  await page
    .getByRole('row', { name: /^openai-eu/ })
    .getByText('40', { exact: true })
    .waitFor()
  await everySort(page, 'name', {
    Name: (name) => name,
    Requests: (name) => sums.get(name)?.requests ?? 0,
    Errors: (name) => rateOf(sums.get(name)),
    'First token, p50': (name) => sums.get(name)?.latency_ms.first_token?.p50,
    'First token, p95': (name) => sums.get(name)?.latency_ms.first_token?.p95,
    Spend: (name) => costOf(sums.get(name)),
    Credentials: (name) => channels.get(name)?.credentials.length,
    // One with a wildcard serves more than any other.
    Models: (name) => {
      const models = Object.keys(channels.get(name)?.models ?? {})
      return models.includes('*') ? Number.POSITIVE_INFINITY : models.length
    },
    State: (name) => (name === 'spare' ? 1 : 0),
  })
  expect(new URL(page.url()).searchParams.get('sort')).toBe('state')
  const azure = page.getByRole('row', { name: /^azure/ })
  await azure.getByText('33.3%').waitFor()
  await page
    .getByRole('row', { name: /^spare/ })
    .getByText('disabled')
    .waitFor()
  expect(await page.getByRole('gridcell', { name: 'enabled' }).count()).toBe(0)
  await axe(page)
  await listsFit(page)
})

test('channels are filtered as the API filters them, and the address keeps it', async () => {
  const page = await open(`/console/channels?${span}`)
  const is = async (list: string) => {
    const expected = (await named(list)).toSorted()
    await until(async () => (await shown(page, 'name')).join() === expected.join())
  }
  await choose(page, 'State', 'Disabled')
  await is('channels?state=disabled')
  await page.reload()
  await is('channels?state=disabled')
  await choose(page, 'State', 'Enabled')
  await is('channels?state=enabled')
  await choose(page, 'State', 'Needs attention')
  await is('channels?state=disabled')
  await choose(page, 'State', 'Any state')
  await choose(page, 'Model', 'large')
  await is('channels?model=large')
  await choose(page, 'Model', 'Any model')
  await choose(page, 'Managed by', 'Managed by the file')
  await is('channels?managed_by=file')
  await choose(page, 'Managed by', 'Managed here')
  await is('channels?managed_by=admin')
  await choose(page, 'Managed by', 'Any manager')
  await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: 'Search by name' }).fill('AZ')
  await is('channels?search=AZ')
  await page.getByRole('textbox', { name: 'Search by name' }).fill('no such channel')
  await page.getByText('No channel fits these filters').waitFor()
  await axe(page)
  await page.getByRole('button', { name: 'Show all channels' }).click()
  await is('channels')
})

test('models are sorted by what the sums say of all their names, and say who serves them', async () => {
  const page = await open(`/console/models?${span}`)
  const found = await sumsBy('model')
  const { body } = await owner.call('GET', 'models')
  const models = new Map(
    (
      body.data as { id: string; aliases: string[]; channels: unknown[]; price: { input?: string } | null }[]
    ).map((one) => [one.id, one]),
  )
  const known = [...models.values()].flatMap(({ id, aliases }) => [id, ...aliases])
  // The model for any other name has the requests for all names that the catalog does not have.
  const namesOf = (id: string) =>
    (id === '*'
      ? [...found.keys()].filter((name) => !known.includes(name))
      : [id, ...(models.get(id)?.aliases ?? [])]
    ).flatMap((name) => found.get(name) ?? [])
  const sum = (id: string, of: (sums: Sums) => number) =>
    namesOf(id).reduce((total, one) => total + of(one), 0)
  const rate = (id: string) => {
    const requests = sum(id, (one) => one.requests)
    return requests === 0 ? undefined : sum(id, ({ errors }) => errors) / requests
  }
  const busiest = (id: string) =>
    namesOf(id).toSorted((a, b) => b.requests - a.requests)[0]?.latency_ms.first_token
  await page
    .getByRole('row', { name: /^large/ })
    .getByText('55', { exact: true })
    .waitFor()
  await everySort(page, 'id', {
    Model: (id) => id,
    Channels: (id) => models.get(id)?.channels.length,
    Requests: (id) => sum(id, ({ requests }) => requests),
    Errors: rate,
    'First token, p50': (id) => busiest(id)?.p50,
    'First token, p95': (id) => busiest(id)?.p95,
    'In / out, $ per M': (id) =>
      models.get(id)?.price?.input === undefined ? undefined : Number(models.get(id)?.price?.input),
    Spend: (id) => {
      const cost = sum(id, ({ cost_nano_usd }) => Number(cost_nano_usd))
      const [requests, unpriced] = [sum(id, (one) => one.requests), sum(id, (one) => one.unpriced_requests)]
      const isUnknown = isCostUnknown({ requests, unpriced_requests: unpriced, cost_nano_usd: String(cost) })
      return requests === 0 || isUnknown ? undefined : cost
    },
  })
  const row = page.getByRole('row', { name: /^unpriced/ })
  await row.getByText('scripted (by *)').waitFor()
  await row.getByText('no price').waitFor()
  await page
    .getByRole('row', { name: /^small/ })
    .getByText('openai-eu, spare (disabled)')
    .waitFor()
  await axe(page)
  await listsFit(page)
})

test('models are filtered as the API filters them', async () => {
  const page = await open('/console/models')
  const is = async (expected: readonly string[]) =>
    until(async () => (await shown(page, 'id')).toSorted().join() === expected.toSorted().join())
  await choose(page, 'Channel', 'openai-eu')
  await is(await named('models?channel=openai-eu'))
  await choose(page, 'Channel', 'scripted')
  await is(await named('models?channel=scripted'))
  await choose(page, 'Channel', 'Any channel')
  await choose(page, 'Price', 'No price')
  await is(['*', 'unpriced'])
  await choose(page, 'Price', 'Has a price')
  await is((await named('models')).filter((id) => id !== '*' && id !== 'unpriced'))
  await choose(page, 'Price', 'Any price')
  await choose(page, 'Managed by', 'Managed here')
  await is(await named('models?managed_by=admin'))
  await choose(page, 'Managed by', 'Any manager')
  await choose(page, 'State', 'No channel serves it')
  await page.getByText('No model fits these filters').waitFor()
  await choose(page, 'State', 'Disabled')
  await page.getByText('No model fits these filters').waitFor()
  await choose(page, 'State', 'Enabled')
  await is(await named('models?state=enabled'))
  await choose(page, 'State', 'Any state')
  await page.keyboard.press('Escape')
  // An alias is a name too.
  await page.getByRole('textbox', { name: 'Search by name or alias' }).fill('Largest')
  await is(['large'])
})

test('the page of a channel shows its last day and its last 30 days, from the sums alone', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.goto('/console/channels/azure')
  const part = (name: string) => page.getByRole('region', { name, exact: true })
  await part('Requests by outcome').getByText('succeeded 10').waitFor()
  await part('Errors').getByText('failed 5').waitFor()
  await part('Spend').getByText('spend $0.10').waitFor()
  await part('First token of those that succeeded').getByText('p95').waitFor()
  const days = part('Availability of the last 30 days')
  await days.getByText(`66.66% of 15 requests; the worst day: ${at(busy).slice(0, 10)}, 66.66%`).waitFor()
  await days.getByTitle(`${at(busy).slice(0, 10)}: 66.66% of 15 requests`).waitFor()
  const heard = days.getByRole('row', { name: `${at(busy).slice(0, 10)} 66.66% of 15 requests` })
  expect(await heard.count()).toBe(1)
  expect(await days.getByRole('row').count()).toBe(31)
  await axe(page)
  expect(asked.filter((path) => path.startsWith('/admin/v1/requests'))).toEqual([])

  await page.getByRole('button', { name: 'Last 24 hours' }).click()
  await page.getByRole('menuitem', { name: 'Last hour' }).click()
  await page.getByText('No request came in this time.').waitFor()
  await page.getByRole('link', { name: 'Failed requests' }).click()
  await page.waitForURL(/\/console\/log\?.*channel=azure/)
  expect(new URL(page.url()).searchParams.getAll('outcome')).toContain('failed')
})

test('a wildcard says what it serves: models of the catalog, and names that were asked for', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/channels/scripted')
  const models = page.getByRole('region', { name: 'Models', exact: true })
  await models.getByText('Of the catalog: unpriced').waitFor()
  await models.getByText('gpt-of-tomorrow (2)').waitFor()
  await models.getByRole('link', { name: 'unpriced' }).click()
  await page.getByRole('heading', { name: 'unpriced' }).waitFor()
  await page.getByText('scripted (by *)').waitFor()
})

test('the page of a model counts the requests under all its names', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/models/large')
  const outcomes = page.getByRole('region', { name: 'Requests by outcome', exact: true })
  await outcomes.getByText('succeeded 50').waitFor()
  await outcomes.getByText('failed 5').waitFor()
  await page.getByText('90.9% of 55 requests').first().waitFor()
  await axe(page)
})

test('both lists can be read on a phone in the dark', async () => {
  for (const list of ['channels', 'models']) {
    const page = await open(`/console/${list}?${span}`, {
      viewport: { width: 390, height: 844 },
      colorScheme: 'dark',
    })
    await axe(page)
    await fitsSideways(page)
    await listsFit(page)
  }
})
