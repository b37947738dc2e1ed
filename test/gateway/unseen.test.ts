import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { patienceMs } from '../support/until.ts'
import { errorAnswer } from '../support/upstream-plans.ts'

/** Clients that leave before the first byte of an answer, although its upstream works. */

const policies = ['drained', 'aborted', 'held'] as const
type Policy = (typeof policies)[number]
const keyOf = (who: 'limited' | 'free', policy: Policy) => `${who}-${policy}-key-for-tests-01`
const totalMs = 1_500

const yaml = (url: string) => `
models: [ { id: main, context_length: 1000, max_output_tokens: 100, price: { input: "1000", output: "2000" } } ]
channels: [ { name: scripted, protocols: { openai-chat: ${url} }, api_keys: [upstream-credential-1], models: [main], allow_private_address: true } ]
groups:
  - { name: drained, models: ['*'], channels: ['*'], client_gone: { policy: drain, seconds: 1 } }
  - { name: aborted, models: ['*'], channels: ['*'], client_gone: { policy: abort } }
  - { name: held, models: ['*'], channels: ['*'], client_gone: { policy: abort, unseen: hold } }
tenants:
  - name: limited
    balance_usd: "50.00"
    keys: [ ${policies.map((policy) => `{ name: ${policy}, group: ${policy}, secret: ${keyOf('limited', policy)} }`).join(', ')} ]
  - name: free
    keys: [ ${policies.map((policy) => `{ name: ${policy}, group: ${policy}, secret: ${keyOf('free', policy)} }`).join(', ')} ]
`

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ yaml, env: { UPSTREAM_TOTAL_MS: String(totalMs), SHIP_INTERVAL_MS: '20' } })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
  bed.upstream.script(() => new Promise<never>(() => {}))
})

const messages = [{ role: 'user', content: 'Hello' }]
/** At $1,000 and $2,000 a million: a token of input for four bytes, and ten tokens of output. */
const estimateOf = (bytes: number) => BigInt(Math.ceil(bytes / 4)) * 1_000_000n + 10n * 2_000_000n

/** A client that leaves once its request has reached the upstream. Returns the length of its body. */
async function leave(policy: Policy, stream: boolean, who: 'limited' | 'free' = 'limited'): Promise<number> {
  const leaving = new AbortController()
  const body = JSON.stringify({ model: 'main', max_tokens: 10, stream, messages })
  const asked = bed.chat(body, { key: keyOf(who, policy), signal: leaving.signal }).catch(() => 'left')
  await bed.upstream.arrived(1)
  leaving.abort()
  expect(await asked).toBe('left')
  // The gateway knows that the client has left.
  for (let turn = 0; turn < 3; turn++) await (await fetch(`${bed.tollgate.url}/healthz`)).text()
  return body.length
}

async function lastRow(count: number) {
  await expect.poll(async () => (await bed.rows()).length, { timeout: patienceMs }).toBe(count)
  return (await bed.rows()).at(-1)
}

const account = async () => {
  const [row] = await bed.database.sql<{ balance: bigint; held: bigint }[]>`
    SELECT a.balance_nano::text AS balance, a.reserved_nano::text AS held FROM accounts a JOIN tenants t ON t.id = a.id WHERE t.name = 'limited'`
  return { balance: BigInt(row?.balance ?? 0), held: BigInt(row?.held ?? 0) }
}

test.for(policies.flatMap((policy) => [true, false].map((stream) => ({ policy, stream }))))(
  'who leaves before the first byte pays an estimate where money is limited ($policy, stream $stream)',
  async ({ policy, stream }) => {
    const before = await account()
    const rows = (await bed.rows()).length
    const bytes = await leave(policy, stream)
    const cost = estimateOf(bytes)
    expect(await lastRow(rows + 1)).toMatchObject({
      status: 499,
      outcome: 'cancelled',
      stream_end: 'client_gone',
      usage_source: 'estimated',
      output_tokens: 10,
      cost_facts: '[{"part":"output_at_most","count":10}]',
      cost_nano: String(cost),
      charged_nano: String(cost),
    })
    expect(await account()).toEqual({ balance: before.balance - cost, held: 0n })
  },
)

test.for(policies)('where money is not limited, its cost stays unknown (%s)', async (policy) => {
  const rows = (await bed.rows()).length
  await leave(policy, true, 'free')
  expect(await lastRow(rows + 1)).toMatchObject({
    ...{ outcome: 'cancelled', usage_source: 'none', cost_nano: null, charged_nano: null },
  })
})

test('with `hold` the money stays held, without a row, until the upstream can work no longer', async () => {
  const before = await account()
  const rows = (await bed.rows()).length
  const bytes = await leave('held', false)
  const [upstream] = bed.upstream.requests
  await upstream?.closed
  expect(upstream?.closedEarly).toBe(true)
  expect((await account()).held).toBeGreaterThan(0n)
  expect(await bed.rows()).toHaveLength(rows)
  const row = await lastRow(rows + 1)
  expect(Number(row?.total_ms)).toBeGreaterThanOrEqual(totalMs - 10)
  expect(await account()).toEqual({ balance: before.balance - estimateOf(bytes), held: 0n })
})

test('what the upstream refuses after its client left costs nothing', async () => {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof errorAnswer>>()
  bed.upstream.script(() => promise)
  const before = await account()
  const rows = (await bed.rows()).length
  await leave('drained', false)
  resolve(errorAnswer(429, { type: 'requests' }))
  expect(await lastRow(rows + 1)).toMatchObject({ outcome: 'cancelled', cost_nano: '0', charged_nano: '0' })
  expect(await account()).toEqual({ balance: before.balance, held: 0n })
})

test('the ledger is sound afterwards, and a process that ends in order leaves nothing held', async () => {
  const before = await account()
  const bytes = await leave('held', true)
  await bed.upstream.requests[0]?.closed
  await bed.tollgate.stop()
  expect(await account()).toEqual({ balance: before.balance - estimateOf(bytes), held: 0n })
  const { findings } = await verifyLedger(bed.database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
})
