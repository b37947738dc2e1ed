import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { paidKey } from '../support/gateway-yaml.ts'
import {
  channelLine,
  narrowKey,
  overloaded,
  type RoutingBed,
  startRoutingBed,
} from '../support/routing-bed.ts'
import { chat, errorAnswer } from '../support/upstream-plans.ts'

/** Models that answer in place of others. Each test has its own models. */

type Of = Parameters<typeof channelLine> extends [string, ...infer Rest] ? Rest : never

const price = 'price: { input: "1", output: "2" }'
const models = `
  - { id: half }
  - { id: dear, context_length: 1000, max_output_tokens: 100, price: { input: "100", output: "100" }, fallbacks: [spare] }
  - { id: spare, context_length: 1000, max_output_tokens: 100, ${price} }
  - { id: cheap, context_length: 1000, max_output_tokens: 100, ${price}, fallbacks: [gold] }
  - { id: gold, context_length: 1000, max_output_tokens: 100, price: { input: "1000", output: "1000" } }
  - { id: thrift, context_length: 1000, max_output_tokens: 100, ${price}, fallbacks: [half] }
  - { id: unbound, ${price} }
  - { id: careful, context_length: 1000, max_output_tokens: 100, ${price}, fallbacks: [unbound, spare] }
  - { id: heedless, ${price}, aliases: [careless], fallbacks: [spare] }
  - { id: shut, fallbacks: [spare] }
  - { id: properly, aliases: [nickname] }`

const channels = (origin: string) => {
  const channel = (...of: Of) => channelLine(origin, ...of)
  return [
    channel('dear', '[dear]'),
    channel('shut', '[shut]'),
    channel('thrift', '[thrift]'),
    channel('spare', '{ spare: spare-upstream }'),
    channel('cheap', '[cheap]'),
    channel('gold', '[gold]'),
    channel('any', '"*"').replace('models: "*"', 'models: { properly: "*" }'),
    channel('steady', '[half]'),
    channel('unbound', '[unbound]'),
    channel('careful', '[careful]'),
    channel('heedless', '[heedless]'),
  ].join('\n')
}

let bed: RoutingBed
beforeAll(async () => {
  bed = await startRoutingBed({ models, channels, narrow: 'dear' })
})
afterAll(() => bed?.close())
beforeEach(() => bed.reset())

test('when every channel of a model fails, its fallback answers at its own price, for which money was reserved', async () => {
  bed.answers.dear = overloaded
  const { status, headers, id } = await bed.ask('dear', {
    key: paidKey,
    max_tokens: 10,
    headers: { 'x-tollgate-route': 'true' },
  })
  expect(status).toBe(200)
  expect(headers.get('x-tollgate-model')).toBe('spare')
  expect(headers.get('x-tollgate-channel')).toBe('spare')
  expect(headers.get('x-tollgate-route')).toMatch(
    /^"dear";status=503;error=upstream_overloaded;ms=\d+, "spare";served$/,
  )
  // 8 fresh and 3 cached input tokens at $1, 7 output tokens at $2 per million tokens.
  expect(await bed.row(id)).toMatchObject({
    requested_model: 'dear',
    channel: 'spare',
    cost_nano: '25000',
    attempt_count: 2,
  })
  expect((await bed.attemptsOf(id))[1]?.reason).toBe('fallback spare, only candidate')
  expect(bed.asked('spare')[0]?.model).toBe('spare-upstream')
})

test('a request reserves the highest price of its model and the fallbacks', async () => {
  let held = 0n
  bed.answers.cheap = async () => {
    const [row] = await bed.database.sql<{ amount: string }[]>`SELECT amount_nano AS amount FROM reservations`
    held = BigInt(row?.amount ?? 0)
    return overloaded()
  }
  const { status, id } = await bed.ask('cheap', { key: paidKey, max_tokens: 10 })
  expect(status).toBe(200)
  // Ten output tokens of the fallback alone cost 10 * $1000 / 1e6.
  expect(held).toBeGreaterThan(10_000_000n)
  const row = await bed.row(id)
  expect(BigInt(String(row.cost_nano))).toBeLessThanOrEqual(held)
  expect(BigInt(String(row.cost_nano))).toBe(18_000_000n)
})

test('a fallback that the key may not use is passed over, and the client gets the error of the model', async () => {
  bed.answers.dear = overloaded
  const { status, id, headers } = await bed.ask('dear', { key: narrowKey })
  expect(status).toBe(503)
  expect(headers.get('x-tollgate-model')).toBeNull()
  expect(await bed.attemptsOf(id)).toMatchObject([
    { channel: 'dear' },
    { channel: 'spare', passed_over: true, reason: 'fallback spare, this key may not use that model' },
  ])
  expect(bed.asked('spare')).toEqual([])
})

test('a fallback without a price is passed over for a key with a spending limit, and answers other keys', async () => {
  bed.answers.thrift = overloaded
  const { status, id } = await bed.ask('thrift', { key: paidKey, max_tokens: 10 })
  expect(status).toBe(503)
  expect(await bed.attemptsOf(id)).toMatchObject([
    { channel: 'thrift' },
    { passed_over: true, reason: 'fallback half, it has no price' },
  ])
  expect((await bed.ask('thrift')).headers.get('x-tollgate-model')).toBe('half')
})

test('a fallback answers before a channel with an open breaker is called', async () => {
  bed.answers.shut = () => ({ ...overloaded(), headers: { 'retry-after': '120' } })
  expect((await bed.ask('shut')).headers.get('x-tollgate-model')).toBe('spare')
  const { headers, id } = await bed.ask('shut')
  expect(headers.get('x-tollgate-model')).toBe('spare')
  expect(await bed.attemptsOf(id)).toMatchObject([
    { channel: 'shut', passed_over: true },
    { channel: 'spare', passed_over: false, status: 200 },
  ])
  expect(bed.asked('shut')).toHaveLength(1)
  // When the fallback fails too, only this channel is left.
  bed.answers.spare = overloaded
  bed.answers.shut = chat
  const last = await bed.ask('shut')
  expect(last.status).toBe(200)
  expect(last.headers.get('x-tollgate-channel')).toBe('shut')
  expect(last.headers.get('x-tollgate-model')).toBeNull()
})

test('a mistake of the client goes to no fallback', async () => {
  bed.answers.dear = () => errorAnswer(400, { type: 'invalid_request_error', message: 'No.' })
  expect((await bed.ask('dear')).status).toBe(400)
  expect(bed.asked('spare')).toEqual([])
})

test('an alias stands for its model, even at a channel that takes any name', async () => {
  const { status, id } = await bed.ask('nickname')
  expect(status).toBe(200)
  expect(bed.asked('any')[0]?.model).toBe('properly')
  expect(await bed.row(id)).toMatchObject({ requested_model: 'nickname' })
})

test('a fallback without a bound on its cost is passed over for a key with a spending limit, and the next one answers', async () => {
  bed.answers.careful = overloaded
  const { status, id, headers } = await bed.ask('careful', { key: paidKey })
  expect(status).toBe(200)
  expect(headers.get('x-tollgate-model')).toBe('spare')
  expect(await bed.attemptsOf(id)).toMatchObject([
    { channel: 'careful', status: 503 },
    { channel: 'unbound', passed_over: true, reason: 'fallback unbound, its cost is not bounded' },
    { channel: 'spare', status: 200 },
  ])
  // The cost is bounded if the request bounds its output. Other keys have no limit.
  expect((await bed.ask('careful', { key: paidKey, max_tokens: 5 })).headers.get('x-tollgate-model')).toBe(
    'unbound',
  )
  expect((await bed.ask('careful')).headers.get('x-tollgate-model')).toBe('unbound')
})

test('a model without a bound on its cost is refused by name, whatever its fallbacks cost', async () => {
  for (const name of ['heedless', 'careless']) {
    const { status, text } = await bed.ask(name, { key: paidKey })
    expect(status).toBe(403)
    // The one reason that holds, and what to do about it.
    expect(text).toContain(
      'a request to model \\"heedless\\" has no upper bound on its cost: nothing bounds its answer. Send max_completion_tokens.',
    )
  }
  expect(bed.upstream.requests).toEqual([])
})
