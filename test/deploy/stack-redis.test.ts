import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, onTestFailed, onTestFinished, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { amount } from '../support/amount.ts'
import { openDatabase } from '../support/database.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { notingFetch } from '../support/loop.ts'
import { expectTurns, loopClients, loopModels, loopYaml } from '../support/tool-loops.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor/vendor.ts'
import { memberNames, type Stack, startStack } from './stack.ts'

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
  const pairs = Object.values(loopClients).flatMap((client) =>
    loopModels.flatMap((model) => [false, true].map((stream) => ({ client, model, stream }))),
  )
  const asked: string[] = []
  const run = async () => {
    for (let pair = pairs.shift(); pair !== undefined; pair = pairs.shift()) {
      const { client, model, stream } = pair
      const { fetch, requestIds } = notingFetch(stack.fetch as typeof globalThis.fetch)
      const turns = await client.loop({ origin: stack.url, apiKey: freeKey, model, stream, fetch })
      expectTurns(client, model, turns)
      asked.push(...requestIds)
    }
  }
  await Promise.all(Array.from({ length: 8 }, run))

  expect(new Set(asked).size).toBe(asked.length)
  const database = openDatabase(stack.postgres.url, { max: 2 })
  const rows = await until(async () => {
    const found = await database.sql<{ outcome: string }[]>`
      SELECT outcome FROM requests WHERE id = ANY (${asked}::uuid[])`
    return found.length === asked.length && found
  }).finally(() => database.close())
  expect(rows.filter(({ outcome }) => outcome !== 'succeeded')).toEqual([])
}, 300_000)

test(`each part is restarted under ${streams} streams: no request is lost, and no row`, async () => {
  const stack = await startStack(yaml)
  onTestFailed(() => console.log(stack.caddyLog().slice(-4000)))
  const load = startLoad(stack)
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

/** What a gateway says about an image, and of a key that it does not have in memory, while Postgres does not answer. */
const awayMessage = /which does not answer|cannot check API keys at the moment/

/** Clients that ask without pause, each for a stream of a second, and two for images. */
function startLoad({ url, fetch }: Stack) {
  let running = true
  let mayRefuse = false
  let made = 0
  let painted = 0
  const refused: string[] = []
  const answered: string[] = []
  const lost: string[] = []
  const post = (path: string, body: object) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${freeKey}` },
      body: JSON.stringify(body),
    })

  async function ask(): Promise<void> {
    const marker = `stack-${++made}`
    const messages = [{ role: 'user', content: 'Hello' }]
    try {
      const answer = await post('/v1/chat/completions', {
        model: 'paced-10x100',
        messages,
        stream: true,
        marker,
      })
      const text = await answer.text()
      const seen = `${marker}: ${answer.status} ${text.slice(-300)}`
      if (answer.status === 200 && text.trimEnd().endsWith('data: [DONE]')) answered.push(marker)
      else if (answer.status === 503 && awayMessage.test(text)) refused.push(seen)
      else lost.push(seen)
    } catch (cause) {
      lost.push(`${marker}: ${cause} ${cause instanceof Error ? cause.cause : ''}`)
    }
  }

  async function paint(): Promise<void> {
    const prompt = `delay:300 picture ${++made}`
    try {
      const answer = await post('/v1/images/generations', { model: 'draw', prompt })
      const text = await answer.text()
      const seen = `${prompt}: ${answer.status} ${text.slice(-300)}`
      if (answer.status === 200) painted++
      // Postgres may be away for longer than a job may wait to be accepted.
      else if (answer.status === 503 && (mayRefuse || awayMessage.test(text))) refused.push(seen)
      else lost.push(seen)
    } catch (cause) {
      lost.push(`${prompt}: ${cause}`)
    }
  }

  const again = async (work: () => Promise<void>) => {
    while (running) await work()
  }
  const clients = [
    ...Array.from({ length: streams }, () => again(ask)),
    ...Array.from({ length: 2 }, () => again(paint)),
  ]
  return {
    /** Resolves when as many streams as there are clients have begun and ended since now. */
    async more(): Promise<void> {
      const [from, paintedFrom] = [answered.length + lost.length, painted + lost.length]
      await until(
        () => answered.length + lost.length >= from + 2 * streams && painted + lost.length > paintedFrom,
        120_000,
      )
    },
    /** Those that Postgres would have been needed for. */
    refused: () => refused,
    mayRefuseImages(may: boolean): void {
      mayRefuse = may
    },
    async stop() {
      running = false
      await Promise.all(clients)
      return { answered, painted, refused, lost }
    },
  }
}
