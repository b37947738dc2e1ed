import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import {
  type FourUpstreams,
  forgettingKey,
  fourUpstreamsYaml,
  keepingKey,
  otherKey,
  ownKey,
  startFourUpstreams,
  upstreamModels,
} from '../support/four-upstreams.ts'
import { secretKey } from '../support/gateway-yaml.ts'
import { notingFetch, question, runTool, tools } from '../support/loop.ts'
import { startTollgate } from '../support/tollgate.ts'
import { startVendor } from '../support/vendor/vendor.ts'

/** Message threads, as the vendor's SDKs ask for them, over every upstream. */

let bed: FourUpstreams
beforeAll(async () => {
  bed = await startFourUpstreams()
})
afterAll(() => bed?.close())

function clientOf(url: string, apiKey = keepingKey, requestFetch: typeof fetch = fetch): Anthropic {
  return new Anthropic({ baseURL: url, apiKey, maxRetries: 0, fetch: requestFetch })
}

function textOf(message: { content: readonly { type: string }[] }): string {
  return message.content.flatMap((block) => ('text' in block ? [String(block.text)] : [])).join('')
}

const runnerTools = Object.entries(tools).map(([name, { description, schema }]) =>
  betaTool({ name, description, inputSchema: schema, run: (input) => runTool(name, input) }),
)

const ways = [
  ['whole', false],
  ['streamed', true],
] as const

describe.each(upstreamModels)('over %s', (model) => {
  test.each(ways)('the tool runner ends its loop in one thread, with thinking, %s', async (_how, stream) => {
    const { fetch, requestIds } = notingFetch()
    const client = clientOf(bed.tollgate.url, keepingKey, fetch)
    const runner = client.beta.messages.toolRunner({
      model,
      max_tokens: 4000,
      stream,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      messages: [{ role: 'user', content: question }],
      tools: runnerTools,
    })
    const message = await runner.runUntilDone()

    expect(message.stop_reason).toBe('end_turn')
    expect(textOf(message)).toContain('The tools answered:')
    const rows = await Promise.all(requestIds.map((id) => bed.row(id)))
    expect(rows.map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded'])
  })

  test.each(ways)(
    'a thread goes on for five turns, and each sends only what is new, %s',
    async (_how, stream) => {
      const thread = clientOf(bed.tollgate.url).beta.messages.thread({
        model,
        max_tokens: 500,
        system: 'Be brief.',
        messages: [],
      })
      const sizes: number[] = []
      for (const turn of [1, 2, 3, 4, 5]) {
        const said = { role: 'user' as const, content: `This is turn ${turn}.` }
        const message = stream ? await thread.stream(said).finalMessage() : await thread.send(said)
        expect(textOf(message)).toContain(`This is turn ${turn}.`)
        expect(thread.previousMessageId).toBe(message.id)
        sizes.push(message.usage.input_tokens + (message.usage.cache_read_input_tokens ?? 0))
      }
      expect(sizes.toSorted((a, b) => a - b)).toEqual(sizes)
    },
  )
})

test.each(['openai-chat', 'gemini', 'openai-responses'])(
  'where nothing is kept, the tool runner still ends its loop, over %s',
  async (model) => {
    const runner = clientOf(bed.tollgate.url, forgettingKey).beta.messages.toolRunner({
      model,
      max_tokens: 4000,
      messages: [{ role: 'user', content: question }],
      tools: runnerTools,
    })
    expect(textOf(await runner.runUntilDone())).toContain('The tools answered:')
  },
)

/** One request of a thread, and its answer or its error. */
async function ask(
  thread: Anthropic.Beta.MessageCreateParams['thread'],
  {
    key = keepingKey,
    content = 'Hello.',
    extra = {},
  }: { key?: string; content?: string; extra?: object } = {},
): Promise<{ id: string; text: string; error?: undefined } | { id?: undefined; error: unknown }> {
  return await clientOf(bed.tollgate.url, key)
    .beta.messages.create({
      model: 'openai-chat',
      max_tokens: 100,
      messages: [{ role: 'user', content }],
      ...(thread === undefined ? {} : { thread }),
      ...extra,
    } as Anthropic.Beta.MessageCreateParamsNonStreaming)
    .then(
      (message) => ({ id: message.id, text: textOf(message) }),
      (error: unknown) => ({ error }),
    )
}

const refusedAs = (code: string) => ({
  status: code === 'thread_not_found' ? 404 : 400,
  error: { error: { details: { error_code: code } } },
})

async function begin(): Promise<string> {
  const { id } = await ask({ type: 'create' })
  if (id === undefined) throw new Error('no thread was made')
  return id
}

describe('an answer', () => {
  test('is continued once', async () => {
    const previous_message_id = await begin()
    expect((await ask({ type: 'continue', previous_message_id })).error).toBeUndefined()

    expect((await ask({ type: 'continue', previous_message_id })).error).toMatchObject(
      refusedAs('thread_already_continued'),
    )
  })

  test('of two requests at once only one continues it', async () => {
    for (let round = 0; round < 10; round++) {
      const previous_message_id = await begin()
      const results = await Promise.all(
        Array.from({ length: 4 }, () => ask({ type: 'continue', previous_message_id })),
      )
      const errors = results.flatMap(({ error }) => (error === undefined ? [] : [error]))
      expect(errors).toHaveLength(3)
      for (const error of errors) {
        expect(String((error as Error).message)).toMatch(/thread_(already_continued|continue_in_flight)/)
      }
    }
  })

  test('is free again when the request that would continue it fails', async () => {
    const previous_message_id = await begin()
    const failed = await ask({ type: 'continue', previous_message_id }, { extra: { model: 'no-such-model' } })
    expect(failed.error).toMatchObject({ status: 404 })

    await expect
      .poll(() => ask({ type: 'continue', previous_message_id }).then(({ error }) => error))
      .toBeUndefined()
  })

  test('is not found by another tenant, by a key that sees only its own, or as a response', async () => {
    const previous_message_id = await begin()
    for (const key of [otherKey, ownKey]) {
      expect((await ask({ type: 'continue', previous_message_id }, { key })).error).toMatchObject(
        refusedAs('thread_not_found'),
      )
    }
    await expect(bed.openai().responses.retrieve(previous_message_id)).rejects.toMatchObject({ status: 404 })
    expect((await ask({ type: 'continue', previous_message_id })).error).toBeUndefined()
  })

  test('keeps system and tools of its thread, and a request that repeats them is refused by name', async () => {
    const previous_message_id = await begin()
    const repeated = await ask({ type: 'continue', previous_message_id }, { extra: { system: 'Again.' } })
    expect(repeated.error).toMatchObject({ status: 400, message: expect.stringContaining('system: ') })
  })
})

test.each([
  [{ type: 'fork' }, 'thread.type'],
  [{ type: 'continue' }, 'thread.previous_message_id'],
  ['create', 'thread: '],
])('a thread of %j is refused by name', async (thread, words) => {
  const { error } = await ask(thread as unknown as { type: 'create' })
  expect(error).toMatchObject({ status: 400, message: expect.stringContaining(words) })
})

test('a thread that is lost begins anew with the whole conversation', async () => {
  const thread = clientOf(bed.tollgate.url).beta.messages.thread({
    model: 'gemini',
    max_tokens: 100,
    messages: [],
  })
  await thread.send({ role: 'user', content: 'One.' })
  await bed.database.sql`DELETE FROM kept_answers`
  const message = await thread.send({ role: 'user', content: 'Two.' })

  expect(textOf(message)).toContain('Two.')
  const rows = await bed.database.sql`SELECT id FROM kept_answers`
  expect(rows).toHaveLength(1)
})

test('a thread goes on over two processes, a kill -9 in its middle, and a restart', {
  timeout: 180_000,
}, async () => {
  const { url: databaseUrl, drop } = await freshDatabase()
  onTestFinished(drop)
  const slow = await startVendor({ tokenDelayMs: 0 })
  onTestFinished(slow.close)
  const start = async () => {
    const tollgate = await startTollgate({
      databaseUrl,
      gatewayYaml: fourUpstreamsYaml(slow.url),
      env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20' },
    })
    onTestFinished(() => tollgate.kill9())
    return tollgate
  }
  const first = await start()
  const second = await start()
  let current = first
  const moving: typeof fetch = (input, init) =>
    fetch(String(input).replace('http://moving', current.url), init)
  const thread = clientOf('http://moving', keepingKey, moving).beta.messages.thread({
    model: 'anthropic-messages',
    max_tokens: 100,
    messages: [],
  })
  await thread.send({ role: 'user', content: 'One.' })
  current = second
  const two = await thread.send({ role: 'user', content: 'Two.' })
  await second.kill9()
  current = first
  const three = await thread.send({ role: 'user', content: 'Three.' })
  await first.stop()
  current = await start()
  const four = await thread.send({ role: 'user', content: 'Four.' })

  expect([two, three, four].map(textOf).join()).toMatch(/Two\..*Three\..*Four\./s)
})

test('where the tenant keeps as much as it may, the tool runner goes on without a thread', async () => {
  const full = await startFourUpstreams({ env: { KEPT_TENANT_BYTES_MAX: '1024' } })
  onTestFinished(full.close)
  const run = () =>
    clientOf(full.tollgate.url)
      .beta.messages.toolRunner({
        model: 'gemini',
        max_tokens: 4000,
        messages: [{ role: 'user', content: `${question} ${'x'.repeat(2_000)}` }],
        tools: runnerTools,
      })
      .runUntilDone()
  await run()
  expect(textOf(await run())).toContain('The tools answered:')
})
