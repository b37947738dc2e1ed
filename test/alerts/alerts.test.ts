import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { makeTransitions } from '../../src/alerts/transition.ts'
import { resealAll } from '../../src/secrets/reseal.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { reportBreaker } from '../support/report-breaker.ts'
import { operator } from '../support/serve-admin.ts'
import {
  type AlertsBed,
  memberOf,
  requestRow,
  secretKey,
  signatureBy,
  startAlertsBed,
  startReceiver,
} from './alerts-bed.ts'

/** Rules, episodes and webhooks: the API and the evaluation in this process, on a real Postgres. */

let bed: AlertsBed
let receiver: Awaited<ReturnType<typeof startReceiver>>
beforeAll(async () => {
  bed = await startAlertsBed()
})
afterAll(() => bed?.close())
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  receiver.close()
  bed.acting.actor = operator
  await bed.sql`DELETE FROM alert_rules`
  await bed.sql`DELETE FROM alert_episodes`
  await bed.sql`DELETE FROM requests`
  await bed.sql`DELETE FROM rollup_deltas`
  await bed.sql`DELETE FROM breaker_reports`
  await bed.sql`DELETE FROM key_networks`
  await bed.sql`DELETE FROM alert_scans`
  await bed.sql`DELETE FROM budget_periods`
})

/** Make a rule with the webhook of this test's receiver. */
async function makeRule(condition: object, more: object = {}) {
  const { status, json } = await bed.call('POST', '', {
    name: 'rule',
    condition,
    resolve_after_seconds: 0,
    webhook: { url: `${receiver.origin}/in?token=planted-token` },
    ...more,
  })
  expect(json).toMatchObject({ kind: Reflect.get(condition, 'kind') })
  expect(status).toBe(201)
  return { id: String(json.id), secret: json.webhook_secret }
}

async function pass(): Promise<string[]> {
  const before = receiver.deliveries.length
  await bed.evaluate()
  await bed.deliver()
  return receiver.deliveries.slice(before).map(({ body }) => `${body.type} ${body.data.summary}`)
}

async function breaker(openings: number | undefined): Promise<void> {
  const id = await bed.idOf('channels', 'eu')
  if (openings === undefined) await bed.sql`DELETE FROM breaker_reports WHERE channel_id = ${id}`
  else await reportBreaker(bed.sql, id, openings, 'answered with 503')
}

const channelDown = { kind: 'channel_down' }

describe('an episode', () => {
  test('is reported once when it opens and once when it closes, signed, and listed', async () => {
    const { id, secret } = await makeRule(channelDown)
    expect(await pass()).toEqual([])
    await breaker(2)
    expect(await pass()).toEqual([
      'alert.opened channel eu: its breaker is open and has opened 2 times in a row. Last failure: answered with 503',
    ])
    await breaker(3)
    expect(await pass()).toEqual([])
    await breaker(undefined)
    expect(await pass()).toEqual(['alert.closed channel eu: it is no longer down.'])
    expect(await pass()).toEqual([])

    const [opened, closed] = receiver.deliveries
    if (opened === undefined || closed === undefined) throw new Error('nothing came')
    expect(opened.path).toBe('/in?token=planted-token')
    expect(opened.headers['webhook-signature']).toBe(signatureBy(secret, opened))
    const episode = opened.body.data.episode_id
    expect(opened.headers['webhook-id']).toBe(`msg_${episode}-opened`)
    expect(closed.headers['webhook-id']).toBe(`msg_${episode}-closed`)
    expect(opened.body.data).toMatchObject({
      rule: { id, name: 'rule', kind: 'channel_down' },
      url: `https://llm.example/admin/v1/alerts/episodes?id=${episode}`,
      closed_at: null,
    })
    const { json } = await bed.call('GET', '/episodes?open=false')
    expect(json.data).toMatchObject([
      {
        id: episode,
        state: 'closed',
        name: 'channel eu',
        value: 'opened 3 times in a row',
        deliveries: [
          { event: 'opened', state: 'delivered', tries: 1, problem: null },
          { event: 'closed', state: 'delivered', tries: 1, problem: null },
        ],
      },
    ])
    expect((await bed.call('GET', '/episodes?open=true')).json.data).toEqual([])
  })

  test('stays open while its condition comes and goes within resolve_after_seconds', async () => {
    await makeRule(channelDown, { resolve_after_seconds: 600 })
    for (const openings of [1, undefined, 1, undefined, 2, undefined]) {
      await breaker(openings)
      await pass()
    }
    expect(receiver.deliveries.map(({ body }) => body.type)).toEqual(['alert.opened'])
    const open = await bed.call('GET', '/episodes?open=true')
    expect(open.json.data).toMatchObject([{ state: 'open', unheld_since: expect.any(String) }])
    await bed.sql`UPDATE alert_episodes SET unheld_since = now() - interval '599 seconds'`
    expect(await pass()).toEqual([])
    await bed.sql`UPDATE alert_episodes SET unheld_since = now() - interval '601 seconds'`
    expect(await pass()).toEqual(['alert.closed channel eu: it is no longer down.'])
  })

  test('is about a channel of which all credentials are refused as well, and not about one that is only slow', async () => {
    await makeRule(channelDown, { resolve_after_seconds: 0 })
    const id = await bed.idOf('channels', 'eu')
    await reportBreaker(bed.sql, id, 0, '', 'silent')
    expect(await pass()).toEqual([])
    await reportBreaker(bed.sql, id, 0, 'upstream_error, status 401', 'refused')
    expect(await pass()).toEqual([
      'alert.opened channel eu: the upstream refuses all of its credentials. Last failure: upstream_error, status 401',
    ])
    await breaker(undefined)
    expect(await pass()).toEqual(['alert.closed channel eu: it is no longer down.'])
  })

  test('does not close at the first look after a long pause of the evaluation', async () => {
    await makeRule(channelDown, { resolve_after_seconds: 600 })
    await breaker(1)
    await pass()
    await bed.sql`UPDATE alert_episodes SET last_held_at = now() - interval '2 hours', opened_at = now() - interval '3 hours'`
    await breaker(undefined)
    expect(await pass()).toEqual([])
  })

  test('opens once, however many processes evaluate at the same time', async () => {
    const { id } = await makeRule(channelDown)
    await breaker(1)
    await Promise.all(Array.from({ length: 8 }, () => bed.evaluate()))
    await bed.deliver()
    expect(receiver.deliveries).toHaveLength(1)
    await breaker(undefined)
    await Promise.all(Array.from({ length: 8 }, () => bed.evaluate()))
    await bed.deliver()
    expect(receiver.deliveries.map(({ body }) => body.type)).toEqual(['alert.opened', 'alert.closed'])
    // The same findings, evaluated before the last evaluation: they are of the past.
    const late = {
      id,
      version: 1,
      condition: { kind: 'channel_down' as const, channel: null, openings: 1 },
      begunAt: new Date(Date.now() - 60_000),
    }
    const finding = { subject: 'x', name: 'x', value: 'x', summary: 'x', details: {} }
    expect(await makeTransitions(bed.sql, late, [finding], 10)).toEqual([])
    const ofFormerVersion = { ...late, version: 0, begunAt: new Date(Date.now() + 60_000) }
    expect(await makeTransitions(bed.sql, ofFormerVersion, [finding], 10)).toEqual([])
    expect(await makeTransitions(bed.sql, { ...ofFormerVersion, version: 1 }, [finding], 10)).toHaveLength(1)
  })

  test('is one of at most ALERT_OPEN_MAX of its rule', async () => {
    const { id } = await makeRule(channelDown)
    const findings = Array.from({ length: 30 }, (_, index) => ({
      subject: `s${index}`,
      name: `s${index}`,
      value: '1',
      summary: 's',
      details: {},
    }))
    const rule = {
      id,
      version: 1,
      condition: { kind: 'channel_down' as const, channel: null, openings: 1 },
    }
    const at = (ms: number) => ({ ...rule, begunAt: new Date(Date.now() + ms) })
    expect(await makeTransitions(bed.sql, at(1_000), findings, 20)).toHaveLength(20)
    expect(await makeTransitions(bed.sql, at(2_000), findings, 20)).toHaveLength(0)
  })

  test('is acknowledged once, by the first', async () => {
    await makeRule(channelDown)
    await breaker(1)
    await pass()
    const list = (await bed.call('GET', '/episodes')).json.data
    const id = String(Reflect.get(Array.isArray(list) ? list[0] : {}, 'id'))
    const first = await bed.call('POST', `/episodes/${id}/acknowledge`)
    expect(first.json).toMatchObject({ id, state: 'open', acknowledged: { by: 'the operator' } })
    bed.acting.actor = { ...operator, name: 'another' }
    const second = await bed.call('POST', `/episodes/${id}/acknowledge`)
    expect(second.json.acknowledged).toEqual(first.json.acknowledged)
    expect((await bed.call('GET', `/episodes?id=${id}`)).json.data).toMatchObject([
      { id, acknowledged: first.json.acknowledged },
    ])
    expect((await bed.call('GET', '/episodes?acknowledged=false')).json.data).toEqual([])
  })

  test('closes with its message when its rule is disabled or deleted', async () => {
    const { id } = await makeRule(channelDown)
    await breaker(1)
    await pass()
    await bed.call('PATCH', `/${id}`, { enabled: false })
    expect(await pass()).toEqual(['alert.closed channel eu: the rule was disabled.'])
    await bed.call('PATCH', `/${id}`, { enabled: true })
    expect((await pass()).map((text) => text.slice(0, 12))).toEqual(['alert.opened'])
    await bed.call('DELETE', `/${id}`)
    expect(await pass()).toEqual(['alert.closed channel eu: the rule was deleted.'])
    expect((await bed.call('GET', `/${id}`)).status).toBe(404)
    expect((await bed.call('GET', '/episodes')).json.data).toHaveLength(2)
  })
})

describe('a webhook', () => {
  test('is tried again while its receiver is down, and the end never comes before the beginning', async () => {
    await makeRule(channelDown)
    receiver.answers.status = 503
    await breaker(1)
    expect(await pass()).toHaveLength(1)
    await breaker(undefined)
    await bed.makeDue()
    // The end waits.
    expect((await pass()).map((text) => text.slice(0, 12))).toEqual(['alert.opened'])
    expect((await bed.call('GET', '/episodes')).json.data).toMatchObject([
      {
        deliveries: [
          { event: 'opened', state: 'pending', tries: 2, problem: 'responded with status 503' },
          { event: 'closed', state: 'pending', tries: 0 },
        ],
      },
    ])
    receiver.answers.status = 200
    await bed.makeDue()
    await bed.deliver()
    await bed.deliver()
    expect(receiver.deliveries.slice(-2).map(({ body }) => body.type)).toEqual([
      'alert.opened',
      'alert.closed',
    ])
    const [first, second, third] = receiver.deliveries
    for (const one of [second, third]) {
      expect(one?.text).toBe(first?.text)
      expect(one?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    }
  })

  test('is given up after WEBHOOK_TRIES_MAX tries, and at once after a 410', async () => {
    await makeRule(channelDown)
    receiver.answers.status = 500
    await breaker(1)
    await bed.evaluate()
    for (let tries = 0; tries < bed.context.bounds.webhookTriesMax + 3; tries++) {
      await bed.makeDue()
      await bed.deliver()
    }
    expect(receiver.deliveries).toHaveLength(bed.context.bounds.webhookTriesMax)
    receiver.answers.status = 410
    await breaker(undefined)
    await pass()
    await bed.makeDue()
    expect(await pass()).toEqual([])
    expect((await bed.call('GET', '/episodes')).json.data).toMatchObject([
      {
        deliveries: [
          { state: 'failed', tries: bed.context.bounds.webhookTriesMax },
          { state: 'failed', tries: 1 },
        ],
      },
    ])
  })

  test('goes to no private address unless that is allowed, given as an address or as a name', async () => {
    const refusing = await startAlertsBed(false)
    onTestFinished(() => refusing.close())
    const rule = (url: string) => ({ name: 'n', condition: channelDown, webhook: { url } })
    for (const url of [
      'http://127.0.0.1:1/x',
      'http://[::1]/x',
      'http://169.254.169.254/x',
      'ftp://x.example',
    ]) {
      const { status, json } = await refusing.call('POST', '', rule(url))
      expect([status, json.errors]).toMatchObject([400, [{ pointer: '#/webhook/url' }]])
    }
    const named = receiver.origin.replace('127.0.0.1', 'localhost')
    const { json } = await refusing.call('POST', '', rule(named))
    const tested = await refusing.call('POST', `/${String(json.id)}/test`)
    expect(tested.json).toMatchObject({ delivered: false, status: null })
    expect(tested.json.problem).toContain('WEBHOOK_PRIVATE_ADDRESSES=allow')
    const channel = await refusing.idOf('channels', 'eu')
    await reportBreaker(refusing.sql, channel, 1, 'answered with 503')
    await refusing.evaluate()
    await refusing.deliver()
    expect((await refusing.call('GET', '/episodes')).json.data).toMatchObject([
      { deliveries: [{ event: 'opened', state: 'failed', tries: 1 }] },
    ])
    expect(receiver.deliveries).toEqual([])
  })

  test('can be tested: the answer says what the receiver said', async () => {
    const { id, secret } = await makeRule(channelDown)
    receiver.answers.text = 'thank you'
    expect((await bed.call('POST', `/${id}/test`)).json).toEqual({
      delivered: true,
      status: 200,
      answer: 'thank you',
      problem: null,
    })
    const [delivery] = receiver.deliveries
    if (delivery === undefined) throw new Error('nothing came')
    expect(delivery.body).toMatchObject({ type: 'alert.test', data: { episode_id: null, rule: { id } } })
    expect(delivery.headers['webhook-signature']).toBe(signatureBy(secret, delivery))
    receiver.answers.status = 403
    expect((await bed.call('POST', `/${id}/test`)).json).toMatchObject({
      delivered: false,
      status: 403,
      problem: 'responded with status 403',
    })
  })

  test('has a secret that is shown once; a new one signs beside the former one', async () => {
    const { id, secret } = await makeRule(channelDown)
    const shown = await bed.call('GET', `/${id}`)
    expect(shown.json.webhook).toEqual({ host: new URL(receiver.origin).host, format: 'tollgate' })
    expect(shown.json).not.toHaveProperty('webhook_secret')
    const fresh = (await bed.call('POST', `/${id}/rotate-secret`)).json.webhook_secret
    expect(fresh).toMatch(/^whsec_/)
    expect(fresh).not.toBe(secret)
    await bed.call('POST', `/${id}/test`)
    const [delivery] = receiver.deliveries
    if (delivery === undefined) throw new Error('nothing came')
    expect(delivery.headers['webhook-signature']).toBe(
      `${signatureBy(fresh, delivery)} ${signatureBy(secret, delivery)}`,
    )
    const kept =
      await bed.sql`SELECT before, after FROM audit_log UNION ALL SELECT condition, NULL FROM alert_rules`
    const all = JSON.stringify(kept)
    for (const planted of ['planted-token', String(secret), String(fresh)]) expect(all).not.toContain(planted)
    const sealed = await bed.sql<{ webhook_sealed: Buffer }[]>`SELECT webhook_sealed FROM alert_rules`
    expect(sealed[0]?.webhook_sealed.includes('planted-token')).toBe(false)
  })
})

test('a new master key seals addresses and secrets of webhooks anew', async () => {
  const { id } = await makeRule(channelDown)
  const former = [{ secret: secretKey, retiredMs: Number.POSITIVE_INFINITY }]
  const outcomes = await resealAll(bed.sql, new SecretKeeper('another-secret-key-for-these-tests', former))
  expect(outcomes).toContainEqual({ name: 'alert webhooks', resealed: 1, unreadable: 0 })
  const [row] = await bed.sql<{ sealed: Buffer }[]>`SELECT webhook_sealed AS sealed FROM alert_rules`
  const alone = new SecretKeeper('another-secret-key-for-these-tests')
  const opened = alone.open('alertWebhook', row?.sealed ?? Buffer.alloc(0), id).toString('utf8')
  expect(opened).toContain('planted-token')
})

describe('the condition', () => {
  test('error_rate holds for a channel above its share of failures, with enough requests', async () => {
    await makeRule({
      kind: 'error_rate',
      of: 'channel',
      window_minutes: 5,
      min_requests: 20,
      above_percent: 5,
    })
    const bad = (count: number) => Array.from({ length: count }, () => requestRow({ outcome: 'failed' }))
    const good = (count: number) => Array.from({ length: count }, () => requestRow())
    await bed.sql`INSERT INTO requests ${bed.sql(bad(10))}`
    expect(await pass()).toEqual([])
    await bed.sql`INSERT INTO requests ${bed.sql(good(30))}`
    expect(await pass()).toEqual([
      'alert.opened channel eu: 25 % of 40 requests failed in 5 minutes; the threshold is 5 %.',
    ])
    await bed.sql`INSERT INTO requests ${bed.sql(good(160))}`
    expect(await pass()).toEqual(['alert.closed channel eu: the error rate is no longer above 5 %.'])
  })

  test('error_rate and latency of a tenant or a model count only the requests of the rule’s tenant', async () => {
    const acme = await bed.idOf('tenants', 'acme')
    const other = await bed.idOf('tenants', 'other')
    const rows = (tenantId: string, changes: Record<string, unknown>) =>
      Array.from({ length: 20 }, () => requestRow({ tenant_id: tenantId, ...changes }))
    await bed.sql`INSERT INTO requests ${bed.sql([...rows(acme, {}), ...rows(other, { outcome: 'failed', total_ms: 9_000 })])}`
    const rate = { min_requests: 10, window_minutes: 10 }
    await makeRule({ kind: 'error_rate', of: 'model', above_percent: 10, ...rate }, { tenant_id: acme })
    await makeRule({ kind: 'error_rate', of: 'tenant', above_percent: 10, ...rate })
    await makeRule({ kind: 'latency', of: 'model', above_ms: 1_000, ...rate }, { tenant_id: other })
    expect((await pass()).sort()).toEqual([
      expect.stringMatching(
        /^alert.opened model words: p95 of the time to the end of the response was 8\d\d\d ms over 20 requests in 10 minutes; the threshold is 1000 ms\.$/,
      ),
      'alert.opened tenant other: 100 % of 20 requests failed in 10 minutes; the threshold is 10 %.',
    ])
  })

  test('uncharged holds for whom more of the cost was not charged than the rule allows, and no tenant may watch it', async () => {
    const acme = await bed.idOf('tenants', 'acme')
    const row = (charged: string) =>
      requestRow({ tenant_id: acme, cost_nano: '3000000000', charged_nano: charged })
    await makeRule({ kind: 'uncharged', of: 'tenant', above_usd: '1' })
    await bed.sql`INSERT INTO requests ${bed.sql([row('3000000000'), row('2000000000')])}`
    expect(await pass()).toEqual([])
    await bed.sql`INSERT INTO requests ${bed.sql(row('2999999999'))}`
    expect(await pass()).toEqual([
      'alert.opened tenant acme: $1.000000001 of the cost in 60 minutes was not charged, because it exceeded the amount held; the threshold is $1.',
    ])
    const { status } = await bed.call('POST', '', {
      name: 'own',
      condition: { kind: 'uncharged', of: 'model' },
      tenant_id: acme,
      webhook: { url: `${receiver.origin}/in` },
    })
    expect(status).toBe(400)
  })

  test('budget of a tenant holds for its share, and for its amount as for the amount of a balance', async () => {
    const [acme, other] = [await bed.idOf('tenants', 'acme'), await bed.idOf('tenants', 'other')]
    onTestFinished(async () => {
      await bed.sql`UPDATE tenants SET budget_month_nano = NULL, budget_total_nano = NULL`
    })
    await bed.sql`UPDATE tenants SET budget_month_nano = 1000000000 WHERE id = ${acme}`
    await bed.sql`UPDATE tenants SET budget_total_nano = 9000000000 WHERE id = ${other}`
    await bed.sql`UPDATE budget_periods SET spent_nano = 600000000 WHERE owner_id = ${acme}`
    await makeRule({ kind: 'budget', of: 'tenant', spent_percent: 60 })
    expect(await pass()).toEqual([
      'alert.opened tenant acme: $0.6 of the budget of $1 for this month has been spent (60 %); the threshold is 60 %.',
    ])
    await makeRule({ kind: 'budget', of: 'tenant', id: other, below_usd: '9.5' })
    expect(await pass()).toEqual([
      'alert.opened tenant other: the balance is $1; the threshold is $9.5.',
      'alert.opened tenant other: $0 of the budget of $9 in total has been spent (0 %); the threshold is $9.5 left.',
    ])
  })

  test('budget holds from its share on, and for a balance below an amount', async () => {
    const key = await bed.idOf('keys', 'one')
    await makeRule({ kind: 'budget', of: 'key', spent_percent: 80 })
    await makeRule({ kind: 'budget', of: 'tenant', below_usd: '5' })
    expect(await pass()).toEqual(['alert.opened tenant other: the balance is $1; the threshold is $5.'])
    await bed.sql`INSERT INTO budget_periods (owner_id, period, starts_at, spent_nano)
      VALUES (${key}, 'month', period_start('month', now()), 799999999)`
    expect(await pass()).toEqual([])
    await bed.sql`UPDATE budget_periods SET spent_nano = 800000000`
    expect(await pass()).toEqual([
      'alert.opened key acme/one: $0.8 of the budget of $1 for this month has been spent (80 %); the threshold is 80 %.',
    ])
  })

  test('ledger_lag holds while rows of a process wait', async () => {
    await makeRule({ kind: 'ledger_lag', older_than_seconds: 30 })
    const report = (oldestMs: number) =>
      bed.sql`INSERT INTO ledger_reports VALUES ('00000000-0000-7000-8000-000000000001', 'box', 7, ${oldestMs}, 0, now())
        ON CONFLICT (instance_id) DO UPDATE SET oldest_ms = excluded.oldest_ms, reported_at = now()`
    await report(29_000)
    expect(await pass()).toEqual([])
    await report(31_000)
    expect(await pass()).toEqual([
      'alert.opened process 7 on box: rows have been waiting for Postgres for 31 s; the threshold is 30 s.',
    ])
    await report(0)
    expect((await pass()).map((text) => text.slice(0, 12))).toEqual(['alert.closed'])
  })

  test('new_network holds for a key that is used from a network it was not used from before', async () => {
    const key_id = await bed.idOf('keys', 'one')
    await makeRule({ kind: 'new_network', learning_days: 0 })
    await pass()
    const now = Date.now()
    // The scan has come here; each look reads what came since.
    const seen = async (client_address: string, agoMs: number) => {
      await bed.sql`UPDATE alert_scans SET last_id = ${requestRow({ at: now - agoMs - 60_000 }).id}`
      await bed.sql`INSERT INTO requests ${bed.sql([requestRow({ at: now - agoMs, key_id, client_address })])}`
      return await pass()
    }
    expect(await seen('198.51.100.7', 60_000)).toEqual([])
    expect(await seen('198.51.100.200', 50_000)).toEqual([])
    expect(await seen('::ffff:198.51.100.9', 45_000)).toEqual([])
    expect(await seen('203.0.113.5', 40_000)).toEqual([
      'alert.opened key acme/one was used from 203.0.113.5: the key was never used from the network 203.0.113.0/24 before.',
    ])
    expect(await seen('2001:db8:1:2::3', 30_000)).toEqual([])
    const networks = await bed.sql`SELECT network FROM key_networks ORDER BY noted_at`
    expect(networks.map(({ network }) => network)).toEqual([
      '198.51.100.0/24',
      '203.0.113.0/24',
      '2001:db8:1::/48',
    ])
    // An hour after the last new one.
    await bed.sql`UPDATE key_networks SET noted_at = noted_at - interval '2 hours'`
    expect(await pass()).toEqual(['alert.closed key acme/one: no more new networks were seen.'])
  })

  test('new_network does not hold while a key is learnt, and sees requests that began long before they ended', async () => {
    const key_id = await bed.idOf('keys', 'one')
    await makeRule({ kind: 'new_network', learning_days: 7 })
    await pass()
    await bed.sql`INSERT INTO key_networks VALUES (${key_id}, '198.51.100.0/24', '198.51.100.7', now() - interval '6 days', now() - interval '6 days', now())`
    const long = requestRow({ at: Date.now() - 2 * 3_600_000, key_id, client_address: '203.0.113.5' })
    await bed.sql`UPDATE alert_scans SET last_id = ${requestRow({ at: Date.now() - 3 * 3_600_000 }).id} WHERE name = 'late networks'`
    await bed.sql`INSERT INTO requests ${bed.sql([long])}`
    expect(await pass()).toEqual([])
    expect(await bed.sql`SELECT network FROM key_networks`).toHaveLength(2)
    await bed.sql`UPDATE key_networks SET first_request_at = now() - interval '8 days' WHERE network LIKE '198%'`
    expect((await pass()).map((text) => text.slice(0, 12))).toEqual(['alert.opened'])
  })
})

describe('a member of a tenant', () => {
  test('sees and changes the rules and episodes of its own tenant only', async () => {
    const acme = await bed.idOf('tenants', 'acme')
    const other = await bed.idOf('tenants', 'other')
    const ofOperators = await makeRule(channelDown)
    const ofOther = await makeRule({ kind: 'budget', of: 'tenant', below_usd: '5' }, { tenant_id: other })
    await breaker(1)
    await pass()
    const list = (await bed.call('GET', '/episodes')).json.data
    const episodes = Array.isArray(list) ? list.map((one) => String(Reflect.get(one, 'id'))) : []
    expect(episodes).toHaveLength(2)

    bed.acting.actor = memberOf(acme)
    expect((await bed.call('GET', '')).json.data).toEqual([])
    expect((await bed.call('GET', '/episodes')).json.data).toEqual([])
    expect((await bed.call('GET', `?tenant_id=${other}`)).status).toBe(404)
    for (const id of episodes) {
      expect((await bed.call('GET', `/episodes?id=${id}`)).json.data).toEqual([])
      expect((await bed.call('POST', `/episodes/${id}/acknowledge`)).status).toBe(404)
    }
    for (const { id } of [ofOperators, ofOther]) {
      expect((await bed.call('GET', `/${id}`)).status).toBe(404)
      expect((await bed.call('PATCH', `/${id}`, { name: 'mine' })).status).toBe(404)
      expect((await bed.call('POST', `/${id}/test`)).status).toBe(404)
      expect((await bed.call('POST', `/${id}/rotate-secret`)).status).toBe(404)
      expect((await bed.call('DELETE', `/${id}`)).status).toBe(404)
    }
  })

  test('makes rules of its own tenant, about nothing that tenants share', async () => {
    const acme = await bed.idOf('tenants', 'acme')
    const other = await bed.idOf('tenants', 'other')
    const foreignKey = await bed.idOf('keys', 'two')
    bed.acting.actor = memberOf(acme)
    for (const condition of [
      channelDown,
      { kind: 'ledger_lag' },
      { kind: 'error_rate', of: 'channel', above_percent: 5 },
      { kind: 'latency', of: 'channel', above_ms: 5 },
      { kind: 'budget', of: 'group', spent_percent: 5 },
      { kind: 'budget', of: 'key', id: foreignKey, spent_percent: 5 },
      { kind: 'budget', of: 'tenant', id: other, below_usd: '5' },
      { kind: 'new_network', key_id: foreignKey },
    ]) {
      const { status, json } = await bed.call('POST', '', { name: 'n', condition })
      expect([status, json.code]).toEqual([400, 'invalid_request'])
    }
    const elsewhere = {
      name: 'n',
      tenant_id: other,
      condition: { kind: 'budget', of: 'key', spent_percent: 5 },
    }
    expect((await bed.call('POST', '', elsewhere)).status).toBe(404)
    const made = await bed.call('POST', '', { ...elsewhere, tenant_id: null })
    expect(made.json).toMatchObject({ tenant_id: acme, webhook: null, webhook_secret: null })
    for (const owner of [foreignKey, await bed.idOf('keys', 'one')])
      await bed.sql`INSERT INTO budget_periods (owner_id, period, starts_at, spent_nano)
        VALUES (${owner}, 'month', period_start('month', now()), 900000000)`
    await pass()
    expect((await bed.call('GET', '/episodes')).json.data).toMatchObject([
      { tenant_id: acme, value: '90 % spent', deliveries: [] },
    ])
  })
})

describe('a rule', () => {
  test.each([
    [{ kind: 'weather' }, '#/condition'],
    [{ kind: 'budget', of: 'key' }, '#/condition/spent_percent'],
    [{ kind: 'budget', of: 'key', spent_percent: 80, below_usd: '1' }, '#/condition/spent_percent'],
    [{ kind: 'budget', of: 'tenant' }, '#/condition/spent_percent'],
    [{ kind: 'budget', of: 'tenant', below_usd: 'much' }, '#/condition/below_usd'],
    [{ kind: 'error_rate', of: 'channel', above_percent: 100 }, '#/condition/above_percent'],
    [{ kind: 'latency', of: 'channel', above_ms: 0 }, '#/condition/above_ms'],
    [{ kind: 'channel_down', openings: 1, more: 1 }, '#/condition/more'],
  ])('with the condition %j is refused at %s', async (condition, pointer) => {
    const { status, json } = await bed.call('POST', '', { name: 'n', condition })
    expect(status).toBe(400)
    expect(json.errors).toMatchObject([{ pointer: expect.stringMatching(`^${pointer}`) }])
  })

  test('changes under if-match; what is evaluated does not change its ETag', async () => {
    const { id } = await makeRule(channelDown)
    const before = (await bed.call('GET', `/${id}`)).headers.get('etag') ?? ''
    await pass()
    expect((await bed.call('GET', `/${id}`)).headers.get('etag')).toBe(before)
    const changed = await bed.call('PATCH', `/${id}`, { name: 'new name' }, { 'if-match': before })
    expect(changed.json).toMatchObject({ name: 'new name', webhook_secret: null })
    expect((await bed.call('PATCH', `/${id}`, { name: 'late' }, { 'if-match': before })).status).toBe(412)
    expect((await bed.call('GET', '?sort=name&limit=1')).json.data).toMatchObject([{ id, name: 'new name' }])
  })

  test('is one of at most ALERT_TENANT_RULES_MAX of its tenant', async () => {
    const tenant_id = await bed.idOf('tenants', 'acme')
    const most = bed.context.bounds.alertTenantRulesMax
    const rule = {
      name: 'n',
      tenant_id,
      condition: { kind: 'budget', of: 'key', spent_percent: 5 },
    }
    for (let made = 0; made < most; made++) expect((await bed.call('POST', '', rule)).status).toBe(201)
    const refused = await bed.call('POST', '', rule)
    expect(refused.status).toBe(409)
    expect(refused.json.detail).toContain('ALERT_TENANT_RULES_MAX')
    expect((await bed.call('POST', '', { ...rule, tenant_id: null })).status).toBe(201)
    const first = await bed.call('GET', '?limit=30&sort=created_at')
    const next = await bed.call('GET', `?limit=30&sort=created_at&cursor=${String(first.json.next_cursor)}`)
    expect([first.json.data, next.json.data].map((page) => Array.isArray(page) && page.length)).toEqual([
      30, 21,
    ])
  })
})
