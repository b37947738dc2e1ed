import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BrowserBed, type Owner, startBrowser } from '../support/browser.ts'
import { type Api, clicker } from '../support/console-controls.ts'
import { type ConsolePages, consolePages, consoleParts } from '../support/console-pages.ts'
import { abortKey, paidKey } from '../support/gateway-yaml.ts'
import { until } from '../support/until.ts'

/** What the console shows after a click on any of its controls is what the API answers. */

let bed: BrowserBed
let owner: Owner
let api: Api
let addresses: ConsolePages

beforeAll(async () => {
  bed = await startBrowser()
  owner = await bed.makeOwner()
  await makeThings()
  addresses = await consolePages(bed, owner)
  // Of the last day, the sums by day may have only one row.
  addresses.requests = addresses.requests.map((one) => (one === '/console' ? '/console?last=7d' : one))
  await makeRequests()
  api = { call: owner.call, parametersOf: await readParameters() }
})
afterAll(() => bed?.close())

test.each(consoleParts)('every control of a page shows what the API answers: %s', async (part) => {
  const page = await bed.page()
  await bed.signIn(page)
  const visit = clicker(page, api)
  const faults: string[] = []
  for (const address of addresses[part]) faults.push(...(await visit(address)))
  expect(faults).toEqual([])
})

/** Two of each kind, which differ in what lists sort and filter by. */
async function makeThings(): Promise<void> {
  const make = async (path: string, body: unknown) => {
    const answer = await owner.call('POST', path, body)
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBe(201)
    return answer.body as { id: string }
  }
  await make('models', {
    id: 'large',
    context_length: 2_000,
    max_output_tokens: 50,
    price: { input: '5', output: '9' },
  })
  await make('models', { id: 'unpriced' })
  for (const name of ['azure', 'spare'])
    await make('channels', {
      name,
      protocols: { 'openai-chat': bed.upstream.url },
      api_keys: [`credential-of-${name}-1`, ...(name === 'azure' ? ['credential-of-azure-2'] : [])],
      models: { large: 'large' },
      allow_private_address: true,
    })
  expect((await owner.call('POST', 'channels/spare/disable')).status).toBe(200)
  await make('groups', { name: 'open', models: ['*'], channels: ['*'], public: true })
  await make('tenants', { name: 'acme', balance_usd: '20' })
  const later = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  await make('keys', { tenant: 'acme', name: 'soon', group: 'open', expires_at: later(3) })
  await make('keys', { tenant: 'acme', name: 'later', group: 'open', expires_at: later(20) })
}

/**
 * One of two keys themselves; then of every key, on three days and three channels, with every outcome: no two have
 * the same number, time or cost.
 */
async function makeRequests(): Promise<void> {
  for (const key of [abortKey, paidKey]) {
    const hello = { model: 'priced', messages: [{ role: 'user', content: 'Hello' }] }
    await bed.row((await bed.chat(hello, { key })).headers.get('x-request-id'))
  }
  const { data } = await until(async () => {
    const { body } = (await owner.call('GET', 'keys?limit=200')) as { body: { data: Key[] } }
    return body.data.filter((key) => key.last_used_at !== null).length === 3 && body
  })
  const ends = [
    { status: 200, outcome: 'succeeded' },
    { status: 502, outcome: 'failed', error_kind: 'upstream_error', first_token_ms: null },
    { status: 200, outcome: 'cancelled' },
    { status: 400, outcome: 'refused', error_kind: 'invalid_request', cost_nano: null, first_token_ms: null },
  ]
  let sent = 0
  for (const [at, key] of data.entries())
    for (let n = 0; n <= at; n++) {
      const end = ends[n % ends.length]
      const day = sent % 3
      const ms = Date.now() - (1 + day * 24) * 3_600_000 - sent++ * 1_000
      const time = ms.toString(16).padStart(12, '0')
      await bed.database.sql`insert into requests ${bed.database.sql({
        id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`,
        created_at: new Date(ms),
        tenant_id: key.tenant_id,
        key_id: key.id,
        group_id: key.group_id,
        endpoint: '/v1/chat/completions',
        requested_model: ['main', 'large', 'unpriced'][at % 3],
        channel: ['scripted', 'azure', 'spare'][at % 3],
        stream: true,
        usage_source: 'upstream',
        input_tokens: 10 + sent,
        output_tokens: 5,
        cost_nano: 1_000_000 * sent,
        attempt_count: 1,
        total_ms: 2_000 + 300 * sent + 20_000 * day,
        first_token_ms: 100 + 30 * sent,
        folded: 1,
        ...end,
      })}`
    }
}

interface Key {
  id: string
  tenant_id: string
  group_id: string
  last_used_at: string | null
}

async function readParameters(): Promise<Api['parametersOf']> {
  const { paths } = (await (await fetch(`${bed.gateway.url}/openapi.json`)).json()) as {
    paths: Record<string, { get?: { parameters?: { name?: string; in?: string }[] } }>
  }
  return (path) => {
    const known = Object.entries(paths).find(([pattern]) =>
      new RegExp(`^${pattern.replaceAll(/\{[^}]*\}/g, '[^/]+')}$`).test(path),
    )
    return new Set(known?.[1].get?.parameters?.flatMap(({ name }) => name ?? []))
  }
}
