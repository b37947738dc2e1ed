import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startDemo } from 'tollgate-demo/server.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'

const adminToken = 'admin-token-for-tests-001'
const key = 'probing-key-for-tests-01'

let vendor: Vendor
let demo: Awaited<ReturnType<typeof startDemo>>
let liar: Server
let tollgate: Gateway
let database: Database
let drop: () => Promise<void>

/**
 * A Chat server that takes tools and answers with words all the same, and knows neither schemas nor pictures. Its words are
 * the secret headers of the request.
 */
function startLiar(): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body: { messages?: unknown; stream?: boolean; model?: string } = JSON.parse(
        Buffer.concat(chunks).toString(),
      )
      if (!Array.isArray(body.messages)) {
        const error = { message: 'messages must be a list', type: 'invalid_request_error', param: 'messages' }
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: { ...error, code: null } }))
        return
      }
      const base = { id: 'chatcmpl-1', created: 1, model: body.model }
      const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
      if (body.stream === true) {
        const chunk = (delta: object, finish_reason: string | null) =>
          `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(chunk({ role: 'assistant', content: 'one two ' }, null))
        response.write(chunk({ content: 'three' }, null))
        response.write(chunk({}, 'stop'))
        response.end(
          `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`,
        )
        return
      }
      const { authorization, 'x-team-pass': team } = request.headers
      const message = { role: 'assistant', content: `${team} ${authorization}` }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({
          ...base,
          object: 'chat.completion',
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage,
        }),
      )
    })
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
  liar = await startLiar()
  demo = await startDemo()
  const { port } = liar.address() as AddressInfo
  const fresh = await freshDatabase()
  drop = fresh.drop
  database = openDatabase(fresh.url)
  tollgate = await startGateway({
    databaseUrl: fresh.url,
    gatewayYaml: `
models:
  - { id: priced, max_output_tokens: 8192, context_length: 100000, price: { input: "1", output: "5" } }
  - { id: unpriced }
channels:
  - { name: demo, protocols: { openai-chat: "${demo.url}/v1" }, api_keys: [""], models: { priced: demo-chat }, allow_private_address: true }
  - { name: chat-only, protocols: { openai-chat: "${vendor.url}/v1" }, api_keys: ["good"], models: [priced], allow_private_address: true }
  - { name: messages, protocols: { anthropic-messages: "${vendor.url}" }, api_keys: ["good"], models: [priced], allow_private_address: true }
  - { name: translated, protocols: { gemini: "${vendor.url}/v1beta" }, api_keys: ["good"], models: [unpriced], allow_private_address: true }
  - { name: liar, protocols: { openai-chat: "http://127.0.0.1:${port}/v1" }, api_keys: ["secret-of-the-liar-1"], models: [priced], allow_private_address: true, headers: { x-team-pass: "hush-hush-8" } }
groups: [{ name: default }]
tenants: [{ name: acme, keys: [{ name: dev, secret: ${key} }] }]
`,
    env: { ADMIN_TOKEN: adminToken, SHIP_INTERVAL_MS: '20' },
  })
})

afterAll(async () => {
  await tollgate?.stop()
  await database?.close()
  await vendor?.close()
  liar?.close()
  await demo?.close()
  await drop?.()
})

const admin = (path: string, body?: unknown) =>
  fetch(`${tollgate.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  })

interface Run {
  id: string
  state: string
  cost_usd: string | null
  key_id: string
  error: string | null
  sections: { checks: { name: string; verdict: string; detail: string }[] }[]
}

async function probe(body: object): Promise<Run> {
  const asked = await admin('/admin/v1/probes', body)
  const text = await asked.text()
  expect(asked.status, text).toBe(201)
  const [{ id }] = JSON.parse(text).data
  return await until(async () => {
    const run: Run = JSON.parse(await (await admin(`/admin/v1/probes/${id}`)).text())
    return run.state === 'ended' || run.state === 'failed' ? run : undefined
  })
}

/** What a run found, one line for each check. */
function tableOf({ sections }: Run): string {
  const lines = sections
    .flatMap(({ checks }) => checks)
    .map(({ name, verdict }) => `${name.padEnd(32)}${verdict}`)
  return `${lines.join('\n')}\n`
}

async function verdicts(channel: string): Promise<Record<string, string>> {
  const rows = await database.sql<{ subject: string; verdict: string }[]>`
    SELECT v.subject, v.verdict FROM verdicts v JOIN channels c ON c.id = v.channel_id
    WHERE c.name = ${channel} AND v.origin = 'probe'`
  return Object.fromEntries(rows.map(({ subject, verdict }) => [subject, verdict]))
}

const traitsOf = async (model: string, to: string) => {
  const answer = await fetch(`${tollgate.url}/v1/translate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      from: to === 'openai-chat' ? 'anthropic-messages' : 'openai-chat',
      to,
      request: { model, max_tokens: 10, messages: [{ role: 'user', content: 'x' }] },
    }),
  })
  const { traits }: { traits: Record<string, unknown> } = JSON.parse(await answer.text())
  return traits
}

describe('a probe of an offer', () => {
  test.each([
    ['demo', 'priced'],
    ['chat-only', 'priced'],
    ['translated', 'unpriced'],
    ['liar', 'priced'],
  ])(
    'finds the table of %s',
    async (channel, model) => {
      const run = await probe({ channel, model })
      expect(run).toMatchObject({ state: 'ended', error: null })
      await expect(tableOf(run)).toMatchFileSnapshot(`../fixtures/probes/${channel}.txt`)
    },
    90_000,
  )

  test('finds what a Chat channel can do, and what it cost', async () => {
    const run = await probe({ channel: 'chat-only', model: 'priced' })
    expect(run).toMatchObject({ state: 'ended', error: null })
    expect(Number(run.cost_usd)).toBeGreaterThan(0)
    expect(await verdicts('chat-only')).toMatchObject({
      'simple request': 'yes',
      streaming: 'yes',
      tools: 'yes',
      'parallel tools': 'yes',
      'structured output': 'yes',
    })
  })

  test('finds that a server lies about tools: its next requests with tools know it', async () => {
    const run = await probe({ channel: 'liar', model: 'priced' })
    expect(run.state).toBe('ended')
    expect(await verdicts('liar')).toMatchObject({
      'simple request': 'yes',
      streaming: 'yes',
      tools: 'no',
      'structured output': 'no',
    })
    const [row] = await database.sql`
      SELECT v.traits, v.evidence, v.cost_nano, v.request_ids FROM verdicts v JOIN channels c ON c.id = v.channel_id
      WHERE c.name = 'liar' AND v.subject = 'tools'`
    expect(row).toMatchObject({ traits: { tools: false } })
    expect(row?.request_ids).toHaveLength(1)
    expect(BigInt(row?.cost_nano)).toBeGreaterThan(0n)
    expect(JSON.stringify(run.sections)).toContain('no call')
    for (const secret of ['secret-of-the-liar', 'hush-hush']) {
      expect(JSON.stringify(row)).not.toContain(secret)
      expect(JSON.stringify(run.sections)).not.toContain(secret)
    }
  })

  test('asks a channel of Messages in its own format', async () => {
    const run = await probe({ channel: 'messages', model: 'priced' })
    expect(run.state).toBe('ended')
    const found = await verdicts('messages')
    expect(found).toMatchObject({ 'simple request': 'yes', tools: 'yes' })
    expect(found).not.toHaveProperty('seed')
  })

  test('asks a channel that is translated, and a model without a price, whose cost it does not know', async () => {
    const run = await probe({ channel: 'translated', model: 'unpriced' })
    expect(run).toMatchObject({ state: 'ended', cost_usd: null })
    expect(await verdicts('translated')).toMatchObject({ 'simple request': 'yes', tools: 'yes' })
    const known = await until(async () => {
      const traits = await traitsOf('unpriced', 'gemini')
      return traits.tools === undefined ? undefined : traits
    })
    expect(known).toMatchObject({ tools: true, streaming: true })
  })

  test('has rows of a tenant of its own, which no key of others sees', async () => {
    const rows = await database.sql`
      SELECT t.name, count(*)::int AS rows FROM requests r JOIN tenants t ON t.id = r.tenant_id GROUP BY t.name`
    const probes = rows.find(({ name }) => name === 'tollgate-probes')
    expect(probes?.rows).toBeGreaterThan(60)
    const seen = await fetch(`${tollgate.url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } })
    expect(await seen.text()).not.toContain('chat-only')
  })

  test('never costs more than its bound', async () => {
    const run = await probe({ channel: 'chat-only', model: 'priced', cost_max_usd: '0.011' })
    expect(run.state).toBe('ended')
    expect(Number(run.cost_usd)).toBeLessThanOrEqual(0.011)
    // What it could not pay for says nothing about the model, and leaves what the run before it found.
    const found = run.sections.flatMap(({ checks }) => checks)
    expect(found.find(({ name }) => name === 'stop')).toMatchObject({ verdict: 'unknown' })
    expect(await verdicts('chat-only')).toMatchObject({ 'simple request': 'yes', stop: 'yes' })
  })

  test('has a line in the audit log that stands with its run, and a repeat asks for no other', async () => {
    const ask = async () => {
      const answer = await fetch(`${tollgate.url}/admin/v1/probes`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${adminToken}`,
          'content-type': 'application/json',
          'idempotency-key': 'one-probe',
        },
        body: JSON.stringify({ channel: 'demo', model: 'priced', cost_max_usd: '0.000001' }),
      })
      return (await answer.json()) as { data: { id: string; channel: string }[] }
    }
    const first = await ask()
    expect(await ask()).toEqual(first)
    const [run] = first.data
    const lines = await database.sql`
      SELECT a.action, a.actor_kind, a.resource_id, a.after FROM audit_log a JOIN probe_runs r ON r.id::text = a.resource_id
      WHERE a.resource = 'probe' AND r.cost_max_nano = 1000`
    expect(lines).toEqual([{ action: 'probe.ask', actor_kind: 'operator', resource_id: run?.id, after: run }])
    await until(async () => {
      const { state } = (await (await admin(`/admin/v1/probes/${run?.id}`)).json()) as Run
      return state === 'ended' || state === 'failed' ? state : undefined
    })
  })

  test('refuses what it cannot probe, and says what there is', async () => {
    const unknown = await admin('/admin/v1/probes', { channel: 'nobody', model: 'priced' })
    expect(unknown.status).toBe(400)
    expect(await unknown.text()).toContain('channel')
    const other = await admin('/admin/v1/probes', { channel: 'liar', model: 'priced', protocol: 'gemini' })
    expect(other.status).toBe(400)
    expect(await other.text()).toContain('openai-chat')
  })
})
