import { afterAll, beforeAll, expect, test } from 'vitest'
import { freeKey, gatewayYaml, paidKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Filters and files for the holders of keys. */

const ownKey = 'own-scope-key-for-tests-01'
let bed: Testbed
let base: string
const ids: string[] = []
beforeAll(async () => {
  bed = await startTestbed({
    yaml: (url) =>
      gatewayYaml(url).replace(
        '      - { name: abort,',
        `      - { name: own, group: default, secret: ${ownKey}, usage_scope: key }\n      - { name: abort,`,
      ),
  })
  base = `http://127.0.0.1:${bed.tollgate.port}`
  for (const [key, model] of [
    [freeKey, 'main'],
    [freeKey, 'error-400'],
    [ownKey, 'main'],
    [paidKey, 'main'],
    [freeKey, 'priced'],
  ] as const) {
    const response = await fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        'user-agent': `=${model}`,
      },
      body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }),
    })
    await response.text()
    ids.push(response.headers.get('x-request-id') ?? '')
  }
})
afterAll(() => bed.close())

const get = (path: string, key: string) =>
  fetch(`${base}/v1/usage/${path}`, { headers: { authorization: `Bearer ${key}` } })

async function list(query: string, key = freeKey): Promise<string[]> {
  const response = await get(`requests?${query}`, key)
  const body = JSON.parse(await response.text())
  expect(response.status, JSON.stringify(body)).toBe(200)
  return body.data.map(({ id }: { id: string }) => id)
}

const [main, failed, own, paid, priced] = [0, 1, 2, 3, 4]
const idsAt = (...at: number[]) => at.map((each) => ids[each])

test('a key finds its own rows by the filters of admins, and no others', async () => {
  expect(await list('error_kind=')).toEqual(idsAt(priced, own, main))
  expect(await list('not_model=main')).toEqual(idsAt(priced, failed))
  expect(await list('model=main&cost_usd=0.001..')).toEqual(idsAt(own, main))
  expect(await list('user_agent=error&status=4xx')).toEqual(idsAt(failed))
  expect(await list('not_model=nothing', ownKey)).toEqual(idsAt(own))
  expect(await list('not_model=nothing', paidKey)).toEqual(idsAt(paid))
  const [tenant] = await bed.database.sql`select id from tenants where name = 'paid'`
  for (const query of [`tenant_id=${tenant?.id}`, 'channel=scripted', 'not_tenant=free', 'price_id='])
    expect((await get(`requests?${query}`, freeKey)).status, query).toBe(400)
})

test('its pages follow each other', async () => {
  const found: string[] = []
  let cursor = ''
  do {
    const body = JSON.parse(
      await (await get(`requests?not_endpoint=/v1/usage/requests&limit=1${cursor}`, freeKey)).text(),
    )
    found.push(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
  } while (cursor !== '')
  expect(found).toEqual(idsAt(priced, own, failed, main))
})

test('an export has the rows of the key, in the order and with the columns that it asks for', async () => {
  const response = await get('export?columns=user_agent,id&sort=created_at&not_status=400', freeKey)
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="usage.csv"')
  expect(await response.text()).toBe(
    [
      'user_agent,id',
      ...[main, own, priced].map((at) => `'=${at === priced ? 'priced' : 'main'},${ids[at]}`),
      '',
    ].join('\r\n'),
  )
  const lines = (await (await get('export?format=ndjson', ownKey)).text()).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { id: ids[own ?? 0], status: 200, tags: null },
  ])
  for (const query of ['format=parquet', 'columns=tenant_id', 'channel=x'])
    expect((await get(`export?${query}`, freeKey)).status, query).toBe(400)
  // A read of the log has no row, or an export would never reach the end.
  expect(
    (await bed.rows()).filter(({ endpoint, status }) => endpoint === '/v1/usage/export' && status === 200),
  ).toEqual([])
})
