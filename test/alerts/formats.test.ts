import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testWebhook } from '../../src/alerts/alert-webhook.ts'
import { messageText } from '../../src/alerts/message-format.ts'
import { reportBreaker } from '../support/report-breaker.ts'
import { operator } from '../support/serve-admin.ts'
import { type AlertsBed, memberOf, signatureBy, startAlertsBed, startReceiver } from './alerts-bed.ts'

/** Webhooks in the shapes of Slack and Teams, and the usual rules: the API in this process, on a real Postgres. */

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
  for (const table of ['alert_rules', 'alert_episodes', 'breaker_reports', 'audit_log'])
    await bed.sql`DELETE FROM ${bed.sql(table)}`
})

const name = 'Channels <!channel> & *all*'

/** The messages of one episode that opens and closes, as they came. */
async function episode(format: string) {
  const made = await bed.call('POST', '', {
    name,
    condition: { kind: 'channel_down' },
    resolve_after_seconds: 0,
    webhook: { url: `${receiver.origin}/in`, format },
  })
  expect(made.status).toBe(201)
  expect(made.json.webhook).toEqual({ host: new URL(receiver.origin).host, format })
  const channel = await bed.idOf('channels', 'eu')
  await reportBreaker(bed.sql, channel, 1, 'answered with 503 [here](https://evil.example)')
  await bed.evaluate()
  await bed.deliver()
  await bed.sql`DELETE FROM breaker_reports`
  await bed.evaluate()
  await bed.deliver()
  const [opened, closed] = receiver.deliveries
  if (opened === undefined || closed === undefined) throw new Error('nothing came')
  for (const one of [opened, closed])
    expect(one.headers['webhook-signature']).toBe(signatureBy(made.json.webhook_secret, one))
  const list = (await bed.call('GET', '/episodes')).json.data
  const [row] = Array.isArray(list) ? list : []
  return {
    id: String(made.json.id),
    opened: JSON.parse(opened.text),
    closed: JSON.parse(closed.text),
    row: row as { id: string; opened_at: string; closed_at: string; summary: string },
  }
}

describe('a webhook of Slack', () => {
  test('is called with text and blocks, in which no name is markup', async () => {
    receiver.answers.text = 'ok'
    const { id, opened, closed, row } = await episode('slack')
    const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })
    const facts = ['Subject: channel eu', 'Value: opened once', `Opened: ${row.opened_at}`]
    const link = `<https://llm.example/console/alerts/${row.id}|Open in Tollgate>`
    const blocksOf = (headline: string, summary: string, about: string[]) => [
      { type: 'header', text: plain(headline) },
      { type: 'section', text: plain(summary) },
      { type: 'context', elements: about.map(plain) },
      { type: 'section', text: { type: 'mrkdwn', text: link } },
    ]
    expect(row.summary).toContain('[here](https://evil.example)')
    expect(opened).toEqual({
      text: `Alert: Channels &lt;!channel&gt; &amp; *all*: ${row.summary}`,
      blocks: blocksOf(`Alert: ${name}`, row.summary, facts),
    })
    expect(closed.blocks).toEqual(
      blocksOf(`Resolved: ${name}`, 'channel eu: it is no longer down.', [
        ...facts,
        `Closed: ${row.closed_at}`,
      ]),
    )
    expect((await bed.call('POST', `/${id}/test`)).json).toEqual({
      ...{ delivered: true, status: 200, answer: 'ok', problem: null },
    })
    expect(JSON.parse(receiver.deliveries.at(-1)?.text ?? '')).toMatchObject({
      blocks: [{ text: { text: `Test: ${name}` } }, {}, {}],
    })
    receiver.answers.status = 400
    receiver.answers.text = 'invalid_blocks'
    expect((await bed.call('POST', `/${id}/test`)).json).toMatchObject({
      ...{ delivered: false, status: 400, answer: 'invalid_blocks' },
    })
  })

  test('gets no text that is longer than Slack takes', () => {
    const rule = { id: crypto.randomUUID(), name: '😀'.repeat(100), kind: 'channel_down', tenantId: null }
    const webhook = testWebhook(rule, new Date())
    webhook.data.summary = '<'.repeat(9_000)
    const { text, blocks } = JSON.parse(messageText('slack', webhook, undefined))
    expect(text.length).toBeLessThan(40_000)
    expect(blocks[0].text.text.length).toBeLessThanOrEqual(150)
    expect(blocks[0].text.text.isWellFormed()).toBe(true)
    expect(blocks[1].text.text.length).toBeLessThanOrEqual(3_000)
    expect(messageText('teams', webhook, undefined).length).toBeLessThan(28_000)
  })
})

test('a webhook of Teams is called with one Adaptive Card, in which no name is markup', async () => {
  receiver.answers.status = 202
  receiver.answers.text = ''
  const { id, opened, closed, row } = await episode('teams')
  const run = (text: string, look: object = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...look }],
  })
  expect(opened).toEqual({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.2',
          body: [
            run(`Alert: ${name}`, { size: 'Medium', weight: 'Bolder', color: 'Attention' }),
            run(row.summary),
            run('Subject: channel eu', { isSubtle: true }),
            run('Value: opened once', { isSubtle: true }),
            run(`Opened: ${row.opened_at}`, { isSubtle: true }),
          ],
          actions: [
            {
              type: 'Action.OpenUrl',
              title: 'Open in Tollgate',
              url: `https://llm.example/console/alerts/${row.id}`,
            },
          ],
          msteams: { width: 'Full' },
        },
      },
    ],
  })
  expect(closed.attachments[0].content.body[0].inlines[0]).toMatchObject({
    ...{ text: `Resolved: ${name}`, color: 'Good' },
  })
  expect((await bed.call('POST', `/${id}/test`)).json).toEqual({
    ...{ delivered: true, status: 202, answer: '', problem: null },
  })
})

test('a webhook keeps its format until it is replaced, and no other format is accepted', async () => {
  const webhook = { url: `${receiver.origin}/in`, format: 'slack' }
  const { json } = await bed.call('POST', '', { name, condition: { kind: 'channel_down' }, webhook })
  const change = (body: object) => bed.call('PATCH', `/${json.id}`, body)
  expect((await change({ name: 'other' })).json.webhook).toMatchObject({ format: 'slack' })
  expect((await change({ webhook: { ...webhook, format: 'teams' } })).json.webhook).toMatchObject({
    format: 'teams',
  })
  expect((await change({ webhook: { url: webhook.url } })).json.webhook).toMatchObject({ format: 'tollgate' })
  expect((await change({ webhook: null })).json.webhook).toBeNull()
  const refused = await change({ webhook: { ...webhook, format: 'discord' } })
  expect([refused.status, refused.json.errors]).toMatchObject([400, [{ pointer: '#/webhook/format' }]])
})

test('a share of errors that is too large is refused in words', async () => {
  const condition = { kind: 'error_rate', of: 'model', above_percent: 500 }
  expect((await bed.call('POST', '', { name, condition })).json.errors).toEqual([
    { pointer: '#/condition/above_percent', detail: 'expected at most 99.9' },
  ])
})

describe('the usual rules', () => {
  const webhook = () => ({ url: `${receiver.origin}/in` })
  type Usual = { id: string; condition: { kind: string }; existing: { id: string } | null }[]
  const usual = async () => (await bed.call('GET', '/usual')).json.data as Usual
  const rules = async () => (await bed.call('GET', '?sort=name')).json.data as { name: string }[]

  test('are created once, by however many callers, with one secret', async () => {
    const offered = await usual()
    expect(offered.map(({ existing }) => existing)).toEqual(offered.map(() => null))
    const answers = await Promise.all([1, 2, 3].map(() => bed.call('POST', '/usual', { webhook: webhook() })))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    const made = answers.filter(({ json }) => json.webhook_secret !== null)
    expect(made).toHaveLength(1)
    expect(await rules()).toHaveLength(offered.length)
    expect((await usual()).every(({ existing }) => existing !== null)).toBe(true)
    expect((await bed.call('POST', '/usual', {})).json).toEqual({ data: [], webhook_secret: null })
    const [audited] =
      await bed.sql`SELECT count(*)::int AS lines FROM audit_log WHERE action = 'alert.create'`
    expect(audited?.lines).toBe(offered.length)
    const data = made[0]?.json.data as { id: string }[]
    for (const { id } of [...data].slice(0, 2)) {
      await bed.call('POST', `/${id}/test`)
      const last = receiver.deliveries.at(-1)
      if (last === undefined) throw new Error('nothing came')
      expect(last.headers['webhook-signature']).toBe(signatureBy(made[0]?.json.webhook_secret, last))
    }
  })

  test('are shown with their secret again to a caller that repeats its call', async () => {
    const repeat = () => bed.call('POST', '/usual', { webhook: webhook() }, { 'idempotency-key': 'once' })
    const [first, second] = [await repeat(), await repeat()]
    expect(first.json.webhook_secret).toEqual(expect.any(String))
    expect(second.json).toEqual(first.json)
  })

  test('leave out what a rule with other thresholds watches, and not what a narrower one does', async () => {
    const rate = { kind: 'error_rate', of: 'model', above_percent: 50 }
    await bed.call('POST', '', { name: 'narrow', condition: { ...rate, name: 'words' } })
    expect((await usual()).find(({ id }) => id === 'errors')?.existing).toBeNull()
    const own = await bed.call('POST', '', { name: 'own', condition: rate })
    expect((await usual()).find(({ id }) => id === 'errors')?.existing).toMatchObject({ id: own.json.id })
    await bed.call('POST', '/usual', { rules: ['errors', 'channel'] })
    expect((await rules()).map((one) => one.name)).toEqual(['A channel is down', 'narrow', 'own'])
  })

  test('of a member are those of its tenant', async () => {
    const acme = await bed.idOf('tenants', 'acme')
    await bed.call('POST', '/usual', {})
    bed.acting.actor = memberOf(acme)
    expect((await usual()).map(({ id }) => id)).toEqual(['errors', 'balance', 'tenant-budget', 'key-budget'])
    const made = (await bed.call('POST', '/usual', {})).json.data as { tenant_id: string }[]
    expect(made.map(({ tenant_id }) => tenant_id)).toEqual([acme, acme, acme, acme])
    const refused = await bed.call('POST', '/usual', { rules: ['errors', 'ledger'] })
    expect([refused.status, refused.json.errors]).toMatchObject([400, [{ pointer: '#/rules/1' }]])
  })

  test('are all created or none', async () => {
    const refused = await bed.call('POST', '/usual', { webhook: { url: 'ftp://x.example' } })
    expect([refused.status, refused.json.errors]).toMatchObject([400, [{ pointer: '#/webhook/url' }]])
    expect(await rules()).toEqual([])
  })
})
