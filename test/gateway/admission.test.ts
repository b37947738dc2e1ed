import { afterEach, expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { amount } from '../support/amount.ts'
import { openDatabase } from '../support/database.ts'
import { startOwner, temporaryDirectory } from '../support/embedded.ts'
import { freeKey, gatewayYaml, paidKey, secretKey } from '../support/gateway-yaml.ts'
import { type ProcessTestbed, startProcessTestbed } from '../support/process-testbed.ts'
import { startTollgate } from '../support/tollgate.ts'
import { patienceMs, until } from '../support/until.ts'
import { startUpstream } from '../support/upstream.ts'
import { chatStream } from '../support/upstream-plans.ts'

const outageMs = amount('OUTAGE_MS', { test: 5_000, chaos: 60_000 })
const oneDollar = 1_000_000_000n
const messages = [{ role: 'user', content: 'Hello' }]

let bed: ProcessTestbed | undefined
afterEach(async () => {
  await bed?.close()
  bed = undefined
})

test('500 requests at once of a tenant with one dollar never spend more than one dollar, and the rest get a 402', async () => {
  // Long enough that no request waits in vain, even on a slow machine.
  bed = await startProcessTestbed({ env: { ADMIT_MS: '60000' } })
  const { chat, upstream, database, tollgate } = bed
  // From now on the key is in memory: its first use must not wait behind 500 others.
  const headers = { authorization: `Bearer ${paidKey}` }
  await until(async () => (await fetch(`${tollgate.url}/v1/models`, { headers })).status === 200)
  const statuses = await Promise.all(
    Array.from({ length: 500 }, async () => {
      const response = await chat({ model: 'main', max_tokens: 10, messages }, { key: paidKey })
      const body = (await response.json()) as { error?: { code: string; message: string } }
      if (response.status !== 200) {
        expect(response.status).toBe(402)
        expect(body.error).toMatchObject({
          code: 'insufficient_quota',
          message: expect.stringContaining('balance'),
        })
        expect(response.headers.get('x-should-retry')).toBe('false')
      }
      return response.status
    }),
  )
  const served = statuses.filter((status) => status === 200).length
  expect(served).toBeGreaterThan(0)
  expect(upstream.requests).toHaveLength(served)
  const chats = async () => (await bed?.rows())?.filter(({ endpoint }) => endpoint === '/v1/chat/completions')
  await expect.poll(async () => (await chats())?.length).toBe(500)
  const [spent] =
    await database.sql`SELECT coalesce(-sum(amount_nano), 0) AS nano FROM entries WHERE kind = 'charge'`
  expect(BigInt(spent?.nano)).toBe(BigInt(served) * 23_500_000n)
  expect(BigInt(spent?.nano)).toBeLessThanOrEqual(oneDollar)
  // Requests one after the other can spend the rest, until one request costs more than the rest.
  while ((await chat({ model: 'main', max_tokens: 10, messages }, { key: paidKey })).status === 200);
  const [left] = await database.sql`SELECT balance_nano, reserved_nano FROM accounts WHERE limited`
  expect(BigInt(left?.balance_nano)).toBeGreaterThanOrEqual(0n)
  expect(BigInt(left?.balance_nano)).toBeLessThan(150_000_000n)
  expect(left?.reserved_nano).toBe('0')
  const { findings } = await verifyLedger(database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
})

test('a request of unbounded cost is refused to a limited key, with the reason, and allowed to other keys', async () => {
  bed = await startProcessTestbed()
  const limited = await bed.chat({ model: 'no-price', messages }, { key: paidKey })
  expect(limited.status).toBe(403)
  expect(await limited.json()).toMatchObject({
    error: { message: expect.stringContaining('no-price'), param: 'model' },
  })
  expect((await bed.chat({ model: 'no-price', messages })).status).toBe(200)
})

test(`while Postgres is down for ${outageMs} ms, keys without a hard budget get no error and all their rows; budgeted keys get 503 and Retry-After`, {
  timeout: outageMs + 180_000,
}, async () => {
  const directory = temporaryDirectory()
  const first = await startOwner(directory)
  const upstream = await startUpstream({ keepBodies: false })
  const tollgate = await startTollgate({
    databaseUrl: first.url,
    gatewayYaml: gatewayYaml(upstream.url),
    env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20', ADMIT_MS: '1000' },
  })
  const ask = (key: string, stream: boolean) =>
    fetch(`${tollgate.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'priced', max_tokens: 10, stream, messages }),
    })
  for (const key of [freeKey, paidKey]) await until(async () => (await ask(key, false)).status === 200)

  await first.stop()
  const endMs = Date.now() + outageMs
  const served: string[] = []
  const refused: Response[] = []
  const free = async (turn: number) => {
    while (Date.now() < endMs || served.length <= 50) {
      const response = await ask(freeKey, turn % 2 === 0)
      await response.text()
      expect(response.status).toBe(200)
      served.push(response.headers.get('x-request-id') ?? '')
    }
  }
  const paid = async () => {
    while (Date.now() < endMs) refused.push(await ask(paidKey, false))
  }
  await Promise.all([...Array.from({ length: 8 }, (_, turn) => free(turn)), paid()])
  expect((await fetch(`${tollgate.url}/readyz`)).status).toBe(200)
  const second = await startOwner(directory)

  expect(served.length).toBeGreaterThan(50)
  expect(refused.length).toBeGreaterThan(0)
  for (const response of refused) {
    expect(response.status).toBe(503)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  const database = openDatabase(second.url)
  const ids = [...served, ...refused.map((response) => response.headers.get('x-request-id') ?? '')]
  const missing = async () => {
    const there = new Set((await database.sql`SELECT id FROM requests`).map(({ id }) => id))
    return ids.filter((id) => !there.has(id)).length
  }
  await expect.poll(missing, { timeout: patienceMs, interval: 1_000 }).toBe(0)
  await until(async () => (await ask(paidKey, false)).status === 200)
  expect(await tollgate.stop()).toBe(0)
  const { findings } = await verifyLedger(database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  await database.close()
  await upstream.close()
  await second.stop()
})

test('SIGTERM lets streams finish, ends the remaining ones at the deadline with an error in the stream, writes every row and exits with 0', async () => {
  bed = await startProcessTestbed({ env: { DRAIN_ON_SHUTDOWN_MS: '1500' } })
  const { upstream, chat, tollgate, row } = bed
  upstream.script((request) =>
    chatStream(request, { tokens: request.model === 'short' ? 20 : 10_000, paceMs: 20 }),
  )
  const asked = await Promise.all(
    ['short', 'short', 'long', 'long'].map((model) => chat({ model, messages, stream: true })),
  )
  const texts = asked.map((response) => response.text())
  const stopped = tollgate.stop()
  const [short, , long] = await Promise.all(texts)
  expect(short).toContain('[DONE]')
  const last = JSON.parse(
    long
      ?.trim()
      .split('\n\n')
      .at(-1)
      ?.replace(/^data: /, '') ?? '',
  )
  expect(last.error.message).toContain('shutting down')
  expect(await stopped).toBe(0)
  expect(await row(asked[0]?.headers.get('x-request-id') ?? null)).toMatchObject({
    outcome: 'succeeded',
    stream_end: 'complete',
  })
  expect(await row(asked[2]?.headers.get('x-request-id') ?? null)).toMatchObject({
    outcome: 'failed',
    stream_end: 'shutdown',
    error_kind: 'unavailable',
  })
})
