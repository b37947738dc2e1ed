import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, onTestFailed, onTestFinished, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { amount } from '../support/amount.ts'
import { openDatabase } from '../support/database.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { loopYaml } from '../support/tool-loops.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor/vendor.ts'
import { expectLoops } from './sdk-loops.ts'
import { memberNames, startStack } from './stack.ts'
import { startLoad } from './stream-load.ts'

/** What docker-compose.yml starts, by the same programs, settings and Caddyfile. */

const streams = amount('STACK_STREAMS', { test: 40, chaos: 200 })

const yaml = (upstream: string, painter: string) => `
models:
  - { id: draw, price: { image: "0.04" } }
  - { id: '*', context_length: 100000, max_output_tokens: 1000, price: { input: "1", output: "2" } }
channels:
  - { name: chat, protocols: { openai-chat: ${upstream} }, api_keys: [k], models: '*', concurrency: 10000, allow_private_address: true }
  - { name: paint, protocols: { openai-images: ${painter} }, api_keys: [k], models: [draw], allow_private_address: true }
groups: [{ name: default }]
tenants: [{ name: acme, keys: [{ name: main, secret: ${freeKey} }] }]
`

test('the SDKs of both vendors work through Caddy, with plain and streamed answers, images and errors', async () => {
  const stack = await startStack(yaml)
  onTestFailed(() => console.log(stack.caddyLog().slice(-4000)))
  const { url, fetch } = stack
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: freeKey, fetch, maxRetries: 0 })
  const anthropic = new Anthropic({ baseURL: url, apiKey: freeKey, fetch, maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'Hello' }]

  const whole = await openai.chat.completions.create({ model: 'any', messages })
  expect(whole.choices[0]?.message.content).toBe('Hello there.')
  let streamed = ''
  for await (const chunk of await openai.chat.completions.create({ model: 'any', messages, stream: true })) {
    streamed += chunk.choices[0]?.delta.content ?? ''
  }
  expect(streamed).not.toBe('')
  expect((await openai.responses.create({ model: 'any', input: 'Hello' })).output_text).toBe('Hello there.')
  const stream = anthropic.messages.stream({ model: 'any', max_tokens: 100, messages })
  expect((await stream.finalMessage()).content).toMatchObject([{ type: 'text', text: streamed }])
  const painted = await openai.images.generate({
    model: 'draw',
    prompt: 'a cat',
    response_format: 'b64_json',
  })
  expect(painted.data?.[0]?.b64_json).toBeTruthy()
  const link = await openai.images.generate({ model: 'draw', prompt: 'a dog', response_format: 'url' })
  const address = link.data?.[0]?.url ?? ''
  expect(address).toMatch(new RegExp(`^${url}/`))
  expect((await fetch(address)).headers.get('content-type')).toBe('image/png')

  const stranger = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'tg-nobody', fetch, maxRetries: 0 })
  await expect(stranger.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
  await expect(
    anthropic.messages.create({ model: 'error-429', max_tokens: 9, messages }),
  ).rejects.toBeInstanceOf(Anthropic.RateLimitError)
  // The address of the client, and not Caddy's, is in the rows.
  const database = openDatabase(stack.postgres.url, { max: 2 })
  const addresses = await until(async () => {
    const rows = await database.sql<{ address: string; n: number }[]>`
      SELECT client_address AS address, count(*)::int AS n FROM requests WHERE key_id IS NOT NULL GROUP BY 1`
    return rows.length > 0 && rows
  }).finally(() => database.close())
  expect(addresses.map(({ address }) => address).join()).toMatch(/^(127\.0\.0\.1|::1)$/)
}, 300_000)

test('every SDK runs its tool loops through Caddy, over each format of upstreams, whole and streamed', async () => {
  const vendor = await startVendor({ tokenDelayMs: 0 })
  onTestFinished(() => vendor.close())
  const stack = await startStack(() => loopYaml(vendor.url))
  onTestFailed(() => console.log(stack.caddyLog().slice(-4000)))
  await expectLoops(stack, stack.postgres.url)
}, 300_000)

test(`each part is restarted under ${streams} streams: no request is lost, and no row`, async () => {
  const stack = await startStack(yaml)
  onTestFailed(() => console.log(stack.caddyLog().slice(-4000)))
  const load = startLoad(stack, streams)
  await load.more()
  for (const name of memberNames) {
    expect(await stack.members[name].restart(), name).toBe(0)
    await load.more()
  }
  await stack.redis.restart()
  await load.more()
  // A machine that is far too busy lets Postgres answer nothing for seconds, which the log says and docs/reference/failures.md names.
  const wasSilent = memberNames.some((name) => stack.members[name].log().includes('Cannot follow changes'))
  if (!wasSilent) expect(load.refused()).toEqual([])
  load.mayRefuseImages(true)
  await stack.postgres.restart()
  await load.more()
  const { answered, painted, refused, lost } = await load.stop()
  expect(lost).toEqual([])
  const ends = await Promise.all(memberNames.map((name) => stack.members[name].process.stop()))
  expect(ends).toEqual([0, 0, 0, 0])

  const database = openDatabase(stack.postgres.url, { max: 2 })
  try {
    const all = await database.sql<{ marker: string; outcome: string; status: number }[]>`
      SELECT substring(p.body FROM '"marker":"([^"]+)"') AS marker, r.outcome, r.status
      FROM requests r JOIN request_payloads p ON p.request_id = r.id AND p.created_at = r.created_at
      WHERE r.endpoint = '/v1/chat/completions'`
    const rows = all.filter(({ marker }) => !refused.some((seen) => seen.startsWith(`${marker}:`)))
    expect(rows.filter(({ outcome, status }) => outcome !== 'succeeded' || status !== 200)).toEqual([])
    expect(rows.map(({ marker }) => marker).sort()).toEqual(answered.toSorted())
    expect((await stack.upstream.count()).ids.toSorted()).toEqual(answered.toSorted())
    const jobs =
      await database.sql`SELECT 1 FROM requests WHERE requested_model = 'draw' AND outcome = 'succeeded'`
    expect(jobs.length).toBeGreaterThanOrEqual(painted)
    const { findings } = await verifyLedger(database.sql)
    expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
    console.log(
      `${answered.length} streams and ${painted} images over six restarts: none lost; ${refused.length} refused while Postgres did not answer`,
    )
  } finally {
    await database.close()
  }
}, 600_000)
