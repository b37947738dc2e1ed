import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { type ProcessTestbed, startProcessTestbed } from '../support/process-testbed.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { holdsFor, patienceMs } from '../support/until.ts'
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts'
import { chatAnswer } from '../support/upstream-plans.ts'

const messages = [{ role: 'user', content: 'Hello' }]
/** Its worst case is its bytes as tokens and ten tokens of output. It costs 23,500,000 nano-USD. */
const body = { model: 'main', max_tokens: 10, messages }
const costNano = 23_500_000n

const keys = {
  five: 'five-dollars-key-for-tests',
  daily: 'daily-budget-key-for-tests',
  waiting: 'waiting-key-for-tests-0001',
  late: 'late-key-for-tests-000001',
  leaving: 'leaving-key-for-tests-001',
  spent: 'spent-key-for-tests-00001',
  killed: 'killed-key-for-tests-0001',
  team: 'team-budget-key-for-tests1',
  mate: 'team-budget-key-for-tests2',
  capped: 'capped-tenant-key-for-tests',
  peer: 'capped-tenant-key-of-team-1',
  lateTenant: 'late-tenant-key-for-tests1',
  spentTenant: 'spent-tenant-key-for-tests',
  killedTenant: 'killed-tenant-key-for-test',
}

/** One key for each test, because a test spends the money of its key. */
const twiceBounded = (['waiting', 'late', 'leaving', 'spent', 'killed'] as const).map(
  (name) =>
    `      - { name: ${name}, group: team, secret: ${keys[name]}, budget: { day: "0.15", month: "1.00" } }\n`,
)

/** Their budgets are those of their tenants. */
const boundedTenants = (['lateTenant', 'spentTenant', 'killedTenant'] as const).map(
  (name) => `  - name: ${name}
    budget: { day: "0.15", month: "1.00" }
    keys:
      - { name: ${name}, group: default, secret: ${keys[name]} }
`,
)

const tenants = `
  - name: five
    balance_usd: "5.00"
    keys:
      - { name: five, group: default, secret: ${keys.five} }
  - name: unlimited
    keys:
      - { name: daily, group: default, secret: ${keys.daily}, budget: { day: "2.00" } }
${twiceBounded.join('')}      - { name: team, group: team, secret: ${keys.team} }
  - name: mate
    balance_usd: "100.00"
    keys:
      - { name: mate, group: team, secret: ${keys.mate} }
  - name: capped
    budget: { month: "2.00" }
    keys:
      - { name: capped, group: default, secret: ${keys.capped} }
      - { name: peer, group: peers, secret: ${keys.peer} }
${boundedTenants.join('')}`

function yaml(upstreamUrl: string): string {
  const groups =
    "  - { name: team, models: ['*'], channels: ['*'], budget: { total: \"2.00\" } }\n" +
    "  - { name: peers, models: ['*'], channels: ['*'] }\n"
  return gatewayYaml(upstreamUrl, tenants).replace('tenants:\n', `${groups}tenants:\n`)
}

interface Answered {
  status: number
  message: string
}

async function ask(url: string, key: string): Promise<Answered> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { error?: { message: string } }
  return { status: response.status, message: answer.error?.message ?? '' }
}

/** The amounts in a refusal: the most that the request could cost, and what was left. */
function amountsIn(message: string): { wanted: number; left: number } {
  const [, wanted, left] = /could cost up to \$([\d.]+), but only \$([\d.]+) is left of/.exec(message) ?? []
  return { wanted: Number(wanted), left: Number(left) }
}

describe('two processes on one Postgres', () => {
  let processes: TollgateProcess[]
  let upstream: ScriptedUpstream
  let database: Database
  let drop: () => Promise<void>
  beforeAll(async () => {
    const [fresh, scripted] = await Promise.all([freshDatabase(), startUpstream()])
    upstream = scripted
    drop = fresh.drop
    const options = {
      databaseUrl: fresh.url,
      gatewayYaml: yaml(upstream.url),
      // Long enough that no request waits in vain, even on a slow machine.
      env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20', BUDGET_WAIT_MS: '240000', ADMIT_MS: '60000' },
    }
    processes = [await startTollgate(options), await startTollgate(options)]
    database = openDatabase(fresh.url)
  })
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.stop()))
    await upstream.close()
    await database.close()
    await drop()
  })

  const rowCount = async () => {
    const [row] = await database.sql<{ n: number }[]>`SELECT count(*)::int AS n FROM requests`
    return row?.n ?? 0
  }
  const chargedNano = async () => {
    const [charged] =
      await database.sql`SELECT coalesce(-sum(amount_nano), 0)::text AS nano FROM entries WHERE kind = 'charge'`
    return BigInt(charged?.nano)
  }

  const cases = [
    {
      what: 'a balance of $5',
      count: 1_000,
      limitNano: 5_000_000_000n,
      callers: [keys.five],
      pot: 'the balance',
    },
    {
      what: "a key's daily budget of $2",
      count: 120,
      limitNano: 2_000_000_000n,
      callers: [keys.daily],
      pot: "this key's daily budget",
    },
    {
      what: "a group's total budget of $2, by keys of two tenants",
      count: 120,
      limitNano: 2_000_000_000n,
      callers: [keys.team, keys.mate],
      pot: "the total budget of this key's group",
    },
    {
      what: "a tenant's monthly budget of $2, by keys of two groups",
      count: 120,
      limitNano: 2_000_000_000n,
      callers: [keys.capped, keys.peer],
      pot: "the monthly budget of this key's tenant",
    },
  ]

  test.each(cases)(
    '$count requests at once never exceed $what, and spend it down to less than the cost of one request',
    {
      timeout: 300_000,
    },
    async ({ count, limitNano, callers, pot }) => {
      upstream.requests.length = 0
      const [rowsBefore, chargedBefore] = [await rowCount(), await chargedNano()]
      const answers = await Promise.all(
        Array.from({ length: count }, (_, n) =>
          ask(processes[n % 2]?.url ?? '', callers[n % 3 === 0 ? 0 : callers.length - 1] ?? ''),
        ),
      )
      const served = answers.filter(({ status }) => status === 200).length
      const refused = answers.filter(({ status }) => status !== 200)
      expect(upstream.requests).toHaveLength(served)
      const spent = BigInt(served) * costNano
      expect(spent).toBeLessThanOrEqual(limitNano)
      // No request is refused while there is money: in each refusal, the rest is less than the cost.
      expect(refused.filter(({ status }) => status !== 402)).toEqual([])
      for (const { message } of refused) {
        const { wanted, left } = amountsIn(message)
        expect(wanted).toBeGreaterThan(left)
        expect(message).toContain(pot)
      }
      const worstNano = BigInt(Math.round(amountsIn(refused[0]?.message ?? '').wanted * 1e9))
      expect(spent).toBeGreaterThan(limitNano - worstNano)
      await expect.poll(rowCount).toBe(rowsBefore + count)
      expect((await chargedNano()) - chargedBefore).toBe(spent)
      expect(await database.sql`SELECT 1 FROM reservations`).toEqual([])
      const { findings } = await verifyLedger(database.sql)
      expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
    },
  )
})

/** The upstream answers when `release` is called. Waits until requests of earlier tests hold no money. */
async function withhold(bed: ProcessTestbed) {
  await expect.poll(() => heldRows(bed)).toBe(0)
  const { promise: gate, resolve: release } = Promise.withResolvers<void>()
  bed.upstream.requests.length = 0
  bed.upstream.script(async () => {
    await gate
    return chatAnswer()
  })
  return { bed, release, ask: (key: string) => ask(bed.tollgate.url, key) }
}

describe('one process that waits long for money', () => {
  let patient: ProcessTestbed
  beforeAll(async () => {
    patient = await startProcessTestbed({ yaml, env: { BUDGET_WAIT_MS: '60000' } })
  })
  afterAll(() => patient.close())

  test('a request waits for money that running requests hold, and is served when they end', async () => {
    const { bed, release, ask } = await withhold(patient)
    const first = ask(keys.waiting)
    await bed.upstream.arrived(1)
    const second = ask(keys.waiting)
    await expect.poll(() => heldRows(bed), { timeout: patienceMs }).toBe(1)
    // The gateway asks Postgres again many times, and is not granted the money while the first request runs.
    await holdsFor(500, () => expect(bed.upstream.requests).toHaveLength(1))
    release()
    expect((await first).status).toBe(200)
    // 2.35 of fifteen cents are spent: the request fits.
    const { status, message } = await second
    expect(message).toBe('')
    expect(status).toBe(200)
  })

  test('a client that leaves while its request waits has a row, and the request holds no money', async () => {
    const { bed, release, ask } = await withhold(patient)
    const first = ask(keys.leaving)
    await bed.upstream.arrived(1)
    const leaving = new AbortController()
    const second = bed.chat(body, { key: keys.leaving, signal: leaving.signal }).catch(() => 'left')
    await holdsFor(300, () => expect(bed.upstream.requests).toHaveLength(1))
    leaving.abort()
    expect(await second).toBe('left')
    const rows = () =>
      bed.database.sql`
        SELECT r.status, r.outcome, r.cost_nano FROM requests r JOIN keys k ON k.id = r.key_id WHERE k.name = 'leaving'`
    await expect
      .poll(async () => [...(await rows())])
      .toEqual([{ status: 499, outcome: 'cancelled', cost_nano: '0' }])
    expect(await heldRows(bed)).toBe(1)
    release()
    expect((await first).status).toBe(200)
    await expect.poll(() => heldRows(bed), { timeout: patienceMs }).toBe(0)
    expect(bed.upstream.requests).toHaveLength(1)
  })
})

describe('one process that does not wait long', () => {
  let hasty: ProcessTestbed
  beforeAll(async () => {
    hasty = await startProcessTestbed({ yaml, env: { BUDGET_WAIT_MS: '300' } })
  })
  afterAll(() => hasty.close())

  test.each([
    { key: keys.late, of: "this key's daily budget" },
    { key: keys.lateTenant, of: "the daily budget of this key's tenant" },
  ])(
    'a request that has waited for the longest time gets 429 with retry-after, which names the money that running requests hold: $of',
    async ({ key, of }) => {
      const { bed, release, ask } = await withhold(hasty)
      const first = ask(key)
      await bed.upstream.arrived(1)
      const begunAt = Date.now()
      const response = await bed.chat(body, { key })
      expect(Date.now() - begunAt).toBeGreaterThanOrEqual(300)
      expect(response.status).toBe(429)
      expect(response.headers.get('retry-after')).toBe('1')
      expect(response.headers.get('x-tollgate-reason')).toBe('money_held')
      expect(await response.json()).toMatchObject({
        error: {
          message: expect.stringMatching(
            new RegExp(
              `^This request could cost up to .* of ${of} is available at the moment, because running requests have reserved some of it`,
            ),
          ),
        },
      })
      release()
      expect((await first).status).toBe(200)
    },
  )

  test.each([
    { key: keys.spent, of: "this key's daily budget", table: 'keys', name: 'spent' },
    {
      key: keys.spentTenant,
      of: "the daily budget of this key's tenant",
      table: 'tenants',
      name: 'spentTenant',
    },
  ])(
    'a 402 names the budget, the rest of it and the time of its reset: $of',
    async ({ key, of, table, name }) => {
      const { bed, release } = await withhold(hasty)
      release()
      const spend = async () => {
        for (;;) {
          const response = await bed.chat(body, { key })
          if (response.status !== 200) return response
          await response.text()
        }
      }
      const response = await spend()
      expect(response.status).toBe(402)
      expect(response.headers.get('x-should-retry')).toBe('false')
      expect(response.headers.get('x-tollgate-reason')).toBe('budget_used_up')
      const { error } = (await response.json()) as { error: { message: string; code: string } }
      expect(error.code).toBe('insufficient_quota')
      const midnight = new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString()
      expect(error.message).toContain(`is left of ${of}, which resets at ${midnight}.`)
      const { wanted, left } = amountsIn(error.message)
      expect(wanted).toBeGreaterThan(left)
      const [row] = await bed.database.sql`
      SELECT p.spent_nano, p.reserved_nano FROM budget_periods p JOIN ${bed.database.sql(table)} o ON o.id = p.owner_id
      WHERE o.name = ${name} AND p.period = 'day'`
      expect(row?.reserved_nano).toBe('0')
      expect(BigInt(row?.spent_nano)).toBe(BigInt(Math.round((0.15 - left) * 1e9)))
    },
  )

  test('the next process releases the money of keys and tenants that a killed process held', async () => {
    const { bed, ask: askHere } = await withhold(hasty)
    const callers = [keys.killed, keys.killedTenant]
    for (const key of callers) void askHere(key).catch(() => {})
    await bed.upstream.arrived(2)
    expect(await heldRows(bed)).toBe(2)
    await bed.tollgate.kill9()
    bed.upstream.script(() => chatAnswer())
    const next = await startTollgate({
      databaseUrl: bed.databaseUrl,
      gatewayYaml: yaml(bed.upstream.url),
      dataDir: bed.tollgate.dataDir,
      env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20' },
    })
    try {
      await expect.poll(() => heldRows(bed), { timeout: patienceMs }).toBe(0)
      for (const key of callers) expect(await ask(next.url, key)).toMatchObject({ status: 200 })
      const { findings } = await verifyLedger(bed.database.sql)
      expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
    } finally {
      await next.stop()
    }
  })
})

async function heldRows({ database }: { database: ProcessTestbed['database'] }): Promise<number> {
  const [row] = await database.sql<{ n: number }[]>`SELECT count(*)::int AS n FROM reservations`
  return row?.n ?? 0
}
