import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { evaluateRules } from '../../src/alerts/evaluate.ts'
import { readConfig } from '../../src/config/config.ts'
import { makeLog } from '../../src/telemetry/log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { reportBreaker } from '../support/report-breaker.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { holdsFor, until } from '../support/until.ts'
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts'
import { startReceiver } from './alerts-bed.ts'

/** Two processes on one Postgres evaluate the same rules, and die at the worst moments. */

const key = 'budget-key-for-alerts-001'
const costNano = 23_500_000n
/** 100 requests cost $2.35: 81 % of it. */
const tenants = `
  - name: spender
    keys:
      - { name: spender, group: default, secret: ${key}, budget: { total: "2.90" } }
`

let upstream: ScriptedUpstream
let receiver: Awaited<ReturnType<typeof startReceiver>>
let database: Database
let fresh: Awaited<ReturnType<typeof freshDatabase>>
let processes: TollgateProcess[] = []

const start = () =>
  startTollgate({
    databaseUrl: fresh.url,
    gatewayYaml: gatewayYaml(upstream.url, tenants),
    env: {
      SECRET_KEY: secretKey,
      ADMIN_TOKEN: adminToken,
      SHIP_INTERVAL_MS: '20',
      BUDGET_WAIT_MS: '240000',
      ADMIT_MS: '60000',
      ALERT_MS: '150',
      IMAGE_LEASE_MS: '1000',
      WEBHOOK_PRIVATE_ADDRESSES: 'allow',
    },
  })

beforeAll(async () => {
  const [one, scripted, hooks] = await Promise.all([freshDatabase(), startUpstream(), startReceiver()])
  fresh = one
  upstream = scripted
  receiver = hooks
  database = openDatabase(fresh.url)
  processes = [await start(), await start()]
})
afterAll(async () => {
  await Promise.all(processes.map((process) => process.stop()))
  receiver?.close()
  await upstream?.close()
  await database?.close()
  await fresh?.drop()
})

const url = () => processes[0]?.url ?? ''

async function makeRule(condition: object): Promise<string> {
  const answer = await fetch(`${url()}/admin/v1/alerts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'rule', condition, webhook: { url: `${receiver.origin}/in` } }),
  })
  return z.object({ id: z.string() }).parse(await answer.json()).id
}

const deliveriesOf = (ruleId: string) =>
  receiver.deliveries.filter(({ body }) => body.data.rule.id === ruleId)
const idsOf = (ruleId: string) =>
  new Set(deliveriesOf(ruleId).map(({ headers }) => String(headers['webhook-id'])))
const statesOf = async (ruleId: string) =>
  (await database.sql`SELECT event, state FROM alert_messages WHERE rule_id = ${ruleId}`).map(
    ({ event, state }) => `${event} ${state}`,
  )

async function downChannel(openings: number): Promise<void> {
  const [channel] = await database.sql<{ id: string }[]>`SELECT id FROM channels WHERE name = 'scripted'`
  await reportBreaker(database.sql, channel?.id ?? '', openings, 'answered with 503')
}

test('a budget at 80 % is reported once, under 100 concurrent requests over two processes', async () => {
  const id = await makeRule({ kind: 'budget', of: 'key', spent_percent: 80 })
  const body = JSON.stringify({
    model: 'main',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Hello' }],
  })
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const answer = await fetch(`${processes[index % 2]?.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
      })
      await answer.text()
      return answer.status
    }),
  )
  expect(statuses).toEqual(Array.from({ length: 100 }, () => 200))
  await until(() => deliveriesOf(id).length > 0)
  await until(async () => {
    const [period] = await database.sql<{ spent: string }[]>`SELECT spent_nano AS spent FROM budget_periods`
    return period?.spent === String(100n * costNano)
  })
  await holdsFor(1_000, () => expect(deliveriesOf(id)).toHaveLength(1))
  const [delivery] = deliveriesOf(id)
  expect(delivery?.body.data.summary).toMatch(
    /^key spender\/spender: \$2\.3[25]\d* of the budget of \$2\.9 in total has been spent \(8[01](\.\d)? %\); the threshold is 80 %\.$/,
  )
  expect(await statesOf(id)).toEqual(['opened delivered'])
})

test('a process that dies while it delivers leaves one message, which comes again under the same id', async () => {
  receiver.answers.status = 0
  const id = await makeRule({ kind: 'channel_down' })
  await downChannel(1)
  await until(() => deliveriesOf(id).length > 0)
  await Promise.all(processes.map((process) => process.kill9()))
  expect(await statesOf(id)).toEqual(['opened pending'])
  receiver.answers.status = 200
  processes = [await start()]
  await until(async () => (await statesOf(id))[0] === 'opened delivered')
  expect(idsOf(id).size).toBe(1)
  const texts = new Set(deliveriesOf(id).map(({ text }) => text))
  expect(texts.size).toBe(1)
  const episodes = await database.sql`SELECT id FROM alert_episodes WHERE rule_id = ${id}`
  expect(episodes).toHaveLength(1)
})

test('a process that dies between the transition and the queue loses no message', async () => {
  const id = await makeRule({ kind: 'channel_down', openings: 2 })
  await Promise.all(processes.map((process) => process.kill9()))
  await downChannel(2)
  // What the dead process did last.
  const { bounds } = readConfig({})
  expect(await evaluateRules({ database, bounds, log: makeLog('silent') })).toMatchObject([
    { event: 'opened' },
  ])
  expect(deliveriesOf(id)).toEqual([])
  processes = [await start(), await start()]
  await until(async () => (await statesOf(id))[0] === 'opened delivered')
  await holdsFor(1_000, () => expect(deliveriesOf(id)).toHaveLength(1))
})
