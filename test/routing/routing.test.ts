import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { manualClock } from '../support/manual-clock.ts'
import { adminToken, operatorClient } from '../support/operator-client.ts'
import {
  channelLine,
  channelOf,
  credentialOf,
  hello,
  limited,
  openMs,
  overloaded,
  type RoutingBed,
  startRoutingBed,
} from '../support/routing-bed.ts'
import { until } from '../support/until.ts'
import { chat, errorAnswer, frame } from '../support/upstream-plans.ts'

/** Two real processes on one Postgres: breakers, credentials and sessions. Each test has its own models. */

type Of = Parameters<typeof channelLine> extends [string, ...infer Rest] ? Rest : never

const models = [
  'half',
  'alone',
  'told',
  'limits',
  'limits-too',
  'endless',
  'refused',
  'clients',
  'sessions',
  'holds',
  'breaks',
  'slow',
  'reset',
]
  .map((id) => `  - { id: ${id} }`)
  .join('\n')

const channels = (origin: string) => {
  const channel = (...of: Of) => channelLine(origin, ...of)
  return [
    channel('flaky', '[half]', { more: ', priority: 1' }),
    channel('steady', '[half]'),
    channel('alone', '[alone]'),
    channel('first', '[told]', { more: ', priority: 1' }),
    channel('next', '[told]'),
    channel('client', '[clients]', { keys: 2, more: ', priority: 1' }),
    channel('client-2', '[clients]'),
    channel('limits', '[limits, limits-too]', { keys: 2 }),
    channel('endless', '[endless]', { more: ', priority: 1' }),
    channel('endless-2', '[endless]'),
    channel('refused', '[refused]', { keys: 2 }),
    channel('left', '[sessions]', { keys: 2 }),
    channel('right', '[sessions]', { keys: 2 }),
    channel('holds', '[holds]', { keys: 3, protocol: 'openai-responses' }),
    channel('breaks', '[breaks]', { more: ', priority: 1' }),
    channel('breaks-2', '[breaks]'),
    channel('slow', '[slow]', { more: ', priority: 1' }),
    channel('slow-2', '[slow]'),
    channel('reset', '[reset]', { more: ', priority: 1' }),
    channel('reset-2', '[reset]'),
  ].join('\n')
}

let bed: RoutingBed
/** Of both processes. */
const clock = manualClock(Date.now())
beforeAll(async () => {
  bed = await startRoutingBed({ models, channels, gateways: 2, env: { ADMIN_TOKEN: adminToken }, clock })
})
afterAll(() => bed?.close())
beforeEach(() => bed.reset())

const second = () => bed.second?.url ?? ''
const session = (name: unknown) => ({ 'x-tollgate-session': String(name) })

test('while a channel fails half its calls, no client in two processes gets an error if another channel can answer', async () => {
  let flip = 0
  bed.answers.flaky = (seen) => (flip++ % 2 === 0 ? overloaded() : chat(seen))
  const both = [bed.tollgate.url, second()]
  const all = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      bed.ask('half', { of: both[i % 2] ?? '', user: `u${i}`, stream: i % 3 === 0 }),
    ),
  )
  expect(all.filter(({ status }) => status !== 200)).toEqual([])
  // Half of its calls failed, which opened the breaker in at least one process.
  const logs = () => `${bed.tollgate.stderr()}${bed.second?.stderr()}`
  await expect.poll(logs).toMatch(/"channel":"flaky".*others are preferred/)
  bed.answers.flaky = overloaded
  for (const of of both) {
    const { id, route, passed, served } = await passedOver(of)
    expect(passed).toMatchObject({ channel: 'flaky', status: null })
    expect(passed.reason).toBe('breaker open for 1 s: upstream_overloaded, status 503')
    expect(served).toMatchObject({ channel: 'steady', passed_over: false, status: 200 })
    expect(route).toBe(`"flaky";passed_over="${passed.reason}", "steady";served`)
    expect(await bed.row(id)).toMatchObject({ attempt_count: 1, channel: 'steady' })
  }
  await expect.poll(() => reported('flaky')).toMatchObject({ open_in: 2, processes: 2 })
  // Each failure is in the attempts, and the other channel answered its request.
  const failed = await bed.database.sql`
    SELECT r.channel, r.attempt_count FROM requests r JOIN attempts a ON a.request_id = r.id
    WHERE a.channel = 'flaky' AND a.error_kind = 'upstream_overloaded'`
  expect(failed.length).toBeGreaterThanOrEqual(5)
  for (const row of failed) expect(row).toEqual({ channel: 'steady', attempt_count: 2 })
  // While the breaker of a process is half open, one request of it calls the channel.
  clock.pass(2 * openMs)
  const isServedByFlaky = async (of: string) =>
    (await bed.ask('half', { of })).headers.get('x-tollgate-channel') === 'flaky'
  for (const of of both) {
    const before = bed.asked('flaky').length
    const others = Promise.withResolvers<void>()
    bed.answers.flaky = async (seen) => {
      await others.promise
      return chat(seen)
    }
    const probe = isServedByFlaky(of)
    await until(() => bed.asked('flaky').length > before)
    expect(await Promise.all([isServedByFlaky(of), isServedByFlaky(of)])).toEqual([false, false])
    others.resolve()
    expect(await probe).toBe(true)
    expect(await isServedByFlaky(of)).toBe(true)
  }
  await expect.poll(() => reported('flaky')).toBeNull()
})

test('each process goes by what it sees itself, and a reset closes the breaker in all', async () => {
  const [one, two] = [bed.tollgate.url, second()]
  const isServedByReset = async (of: string) =>
    (await bed.ask('reset', { of })).headers.get('x-tollgate-channel') === 'reset'
  bed.answers.reset = () => errorAnswer(503, { message: 'Overloaded.' }, { 'retry-after': '600' })
  expect(await isServedByReset(one)).toBe(false)
  await expect
    .poll(() => reported('reset'))
    .toMatchObject({
      ...{ state: 'open', open_in: 1, processes: 2, openings: 1, reason: 'upstream_overloaded, status 503' },
      since: expect.any(String),
    })
  expect(bed.asked('reset')).toHaveLength(1)
  // The other process calls the channel once more, and then knows it too.
  for (let i = 0; i < 3; i++) expect(await isServedByReset(two)).toBe(false)
  expect(bed.asked('reset')).toHaveLength(2)
  await expect.poll(() => reported('reset')).toMatchObject({ open_in: 2, processes: 2 })
  bed.answers.reset = chat
  for (const of of [one, two]) expect(await isServedByReset(of)).toBe(false)
  expect((await operatorClient(bed.tollgate.url)('POST', 'channels/reset/breaker/reset')).status).toBe(200)
  expect(await reported('reset')).toBeNull()
  for (const of of [one, two]) await until(() => isServedByReset(of))
})

/** What health says about the breaker of a channel. */
async function reported(channel: string) {
  const { body } = await operatorClient(bed.tollgate.url)('GET', 'health')
  const of = z.object({ name: z.string(), breaker: z.looseObject({}).nullable() })
  const { channels } = z.object({ channels: z.array(of) }).parse(body)
  return channels.find(({ name }) => name === channel)?.breaker
}

/** The first request to this process that passed the channel over. */
async function passedOver(of: string) {
  for (;;) {
    const { status, id, headers } = await bed.ask('half', { of, headers: { 'x-tollgate-route': 'true' } })
    expect(status).toBe(200)
    const [passed, served] = await bed.attemptsOf(id)
    if (passed?.passed_over === true) return { id, route: headers.get('x-tollgate-route'), passed, served }
  }
}

test('if there is no other channel, one with an open breaker is called as a last resort', async () => {
  bed.answers.alone = overloaded
  for (let i = 0; i < 6; i++) expect((await bed.ask('alone')).status).toBe(503)
  expect(bed.asked('alone')).toHaveLength(6)
  bed.answers.alone = chat
  const { status, id } = await bed.ask('alone')
  expect(status).toBe(200)
  const attempts = await bed.attemptsOf(id)
  expect(attempts.at(-1)?.reason).toMatch(/^last resort \(breaker open.*\), only candidate$/)
})

test('a 503 with retry-after opens the breaker at once, for the named time', async () => {
  bed.answers.first = () => ({ ...overloaded(), headers: { 'retry-after': '120' } })
  expect((await bed.ask('told')).headers.get('x-tollgate-channel')).toBe('next')
  const { headers } = await bed.ask('told', { headers: { 'x-tollgate-route': 'true' } })
  expect(headers.get('x-tollgate-route')).toMatch(
    /^"first";passed_over="breaker open for 120 s: .*", "next";served$/,
  )
  expect(bed.asked('first')).toHaveLength(1)
})

test('a rate limit rests one credential; when all of them rest no call is made, and retry-after is the time of the first', async () => {
  bed.answers.limits = (seen, credential) => (credential === 'limits-1' ? limited('30') : chat(seen))
  // Each session begins with one of two credentials. Of twenty sessions, some begin with each.
  for (let i = 0; i < 20; i++) expect((await bed.ask('limits', { headers: session(i) })).status).toBe(200)
  expect(bed.asked('limits').filter((seen) => credentialOf(seen) === 'limits-1')).toHaveLength(1)
  bed.answers.limits = () => limited('50')
  const answer = await bed.ask('limits', { headers: { 'x-tollgate-route': 'true' } })
  expect(answer.status).toBe(429)
  expect(answer.headers.get('x-tollgate-channel')).toBe('limits')
  expect(answer.headers.get('x-tollgate-route')).toMatch(/^"limits";status=429;error=rate_limited;ms=\d+$/)
  // The credential that rested first is free first, whatever the other one said.
  expect(answer.headers.get('retry-after')).toBe('30')
  const calls = bed.asked('limits').length
  const refused = await bed.ask('limits')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('x-tollgate-reason')).toBe('upstreams_cool_down')
  expect(refused.headers.get('retry-after')).toBe('30')
  expect(bed.asked('limits')).toHaveLength(calls)
  expect(await bed.attemptsOf(refused.id)).toMatchObject([
    // Of either credential: the order is one of two.
    { passed_over: true, reason: expect.stringMatching(/^rate limit: cooling down for [35]0 s$/) },
  ])
  expect(await bed.row(refused.id)).toMatchObject({ attempt_count: 0, outcome: 'failed', cost_nano: '0' })
  // It affects neither another model of these credentials nor the breaker.
  bed.answers.limits = chat
  expect((await bed.ask('limits-too')).headers.get('x-tollgate-channel')).toBe('limits')
})

test('a rate limit without a time sends requests elsewhere, and refuses none', async () => {
  bed.answers.endless = () => limited()
  const { status, id } = await bed.ask('endless')
  expect(status).toBe(200)
  expect(await bed.attemptsOf(id)).toMatchObject([
    { channel: 'endless', status: 429 },
    { channel: 'endless-2', status: 200 },
  ])
  bed.answers['endless-2'] = () => limited()
  await bed.ask('endless')
  bed.answers.endless = chat
  const last = await bed.ask('endless', { headers: { 'x-tollgate-route': 'true' } })
  expect(last.status).toBe(200)
  expect((await bed.attemptsOf(last.id)).at(-1)?.reason).toMatch(
    /^last resort \(rate limit: cooling down for 10 s\)/,
  )
})

test('a refused credential rests, another one of the channel answers, and the log shows neither secret', async () => {
  bed.answers.refused = (seen, credential) =>
    credential === 'refused-1' ? errorAnswer(401, { message: `Bad key ${credential}` }) : chat(seen)
  for (let i = 0; i < 20; i++) expect((await bed.ask('refused', { headers: session(i) })).status).toBe(200)
  expect(bed.asked('refused').filter((seen) => credentialOf(seen) === 'refused-1')).toHaveLength(1)
  const name = createHash('sha256').update('refused-1').digest('hex').slice(0, 8)
  const warned = () =>
    bed.tollgate
      .stderr()
      .split('\n')
      .filter((line) => line.includes(name))
  await expect.poll(warned).toHaveLength(1)
  expect(warned()[0]).toMatch(/"request":"[0-9a-f-]{36}","channel":"refused"/)
  expect(warned()[0]).not.toContain('refused-1')
})

test.each([400, 404, 409, 413, 422])('a %i that the client caused is not tried elsewhere', async (status) => {
  bed.answers.client = () => errorAnswer(status, { type: 'invalid_request_error', message: 'No.' })
  const { status: answered, id } = await bed.ask('clients', { headers: session(status) })
  expect(answered).toBe(status)
  expect(await bed.attemptsOf(id)).toHaveLength(1)
})

test('a session keeps its channel and credential in all processes, and returns to them', async () => {
  const seenBy = async (session: string) => {
    const seen = new Set<string>()
    for (const of of [bed.tollgate.url, second(), bed.tollgate.url]) {
      const before = bed.upstream.requests.length
      expect((await bed.ask('sessions', { of, headers: { 'x-tollgate-session': session } })).status).toBe(200)
      for (const request of bed.upstream.requests.slice(before))
        seen.add(`${channelOf(request)} ${credentialOf(request)}`)
    }
    return [...seen]
  }
  const homes = new Map<string, number>()
  let ofLeft: string | undefined
  for (let i = 0; i < 30; i++) {
    const home = await seenBy(`session ${i}`)
    expect(home).toHaveLength(1)
    homes.set(home[0] ?? '', (homes.get(home[0] ?? '') ?? 0) + 1)
    if (home[0]?.startsWith('left ') === true) ofLeft = `session ${i}`
  }
  // Two channels with two credentials each. Chance leaves one of them without a session once in 1,000 million runs.
  expect([...homes.keys()].sort()).toEqual(['left left-1', 'left left-2', 'right right-1', 'right right-2'])
  if (ofLeft === undefined) throw new Error('no session of the left channel')
  const [home] = await seenBy(ofLeft)
  bed.answers.left = () => ({ ...overloaded(), headers: { 'retry-after': '1' } })
  const headers = { 'x-tollgate-session': ofLeft }
  expect((await bed.ask('sessions', { headers })).headers.get('x-tollgate-channel')).toBe('right')
  expect((await bed.ask('sessions', { headers })).headers.get('x-tollgate-channel')).toBe('right')
  bed.answers.left = chat
  clock.pass(1_000)
  for (const of of [bed.tollgate.url, second()])
    expect((await bed.ask('sessions', { of, headers })).headers.get('x-tollgate-channel')).toBe('left')
  expect(await seenBy(ofLeft)).toEqual([home])
})

test('a conversation keeps its channel without a session name', async () => {
  const channels = new Set<string | null>()
  const turns: { role: string; content: string }[] = [{ role: 'user', content: 'Who was Ada?' }]
  for (let turn = 0; turn < 6; turn++) {
    const { headers } = await bed.ask('sessions', { messages: turns })
    channels.add(headers.get('x-tollgate-channel'))
    turns.push({ role: 'assistant', content: `Answer ${turn}` }, { role: 'user', content: `And ${turn}?` })
  }
  expect(channels.size).toBe(1)
})

test('an earlier answer is continued with the credential that made it', async () => {
  bed.answers.holds = ({ path }) => ({
    body: JSON.stringify({
      id: path === '/holds/v1/responses' ? `resp_${bed.upstream.requests.length}` : 'resp_x',
      object: 'response',
      status: 'completed',
      model: 'up',
      output: [],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    }),
  })
  for (let i = 0; i < 4; i++) {
    const path = '/v1/responses'
    const { text } = await bed.ask('holds', {
      path,
      input: `Hello ${i}`,
      headers: { 'x-tollgate-session': `s${i}` },
    })
    const first = bed.upstream.requests.at(-1)
    const held = JSON.parse(text).id
    // So does a process that has not seen the answer, whatever the session says.
    const inPostgres = () => bed.database.sql`SELECT 1 FROM held_answers WHERE answer_id = ${held}`
    await expect.poll(inPostgres).toHaveLength(1)
    for (const of of [bed.tollgate.url, second()]) {
      for (const session of ['x', 'y', 'z']) {
        const headers = { 'x-tollgate-session': session }
        expect(
          (await bed.ask('holds', { of, path, headers, input: 'And?', previous_response_id: held })).status,
        ).toBe(200)
        const again = bed.upstream.requests.at(-1)
        expect(again && credentialOf(again)).toBe(first && credentialOf(first))
      }
    }
  }
})

test('a stream that breaks after its first content is not tried elsewhere, and counts against its channel', async () => {
  bed.answers.breaks = () => ({
    chunks: [frame({ id: '1', choices: [{ index: 0, delta: { content: 'x' } }] }), { waitMs: 20 }],
    ending: 'cut',
  })
  for (let i = 0; i < 5; i++) {
    const { text } = await bed.ask('breaks', { stream: true })
    expect(text).toContain('error')
  }
  expect(bed.asked('breaks')).toHaveLength(5)
  expect(bed.asked('breaks-2')).toHaveLength(0)
  expect(bed.tollgate.stderr()).toMatch(/"channel":"breaks".*others are preferred/)
})

test('clients that leave do not open a breaker', async () => {
  bed.answers.slow = () => ({
    chunks: [frame({ id: '1', choices: [{ index: 0, delta: { content: 'x' } }] })],
    ending: 'stall',
  })
  for (let i = 0; i < 8; i++) {
    const leaving = new AbortController()
    const body = { model: 'slow', messages: hello, stream: true }
    const response = await bed.chat(body, { signal: leaving.signal })
    await response.body?.getReader().read()
    leaving.abort()
    await bed.row(response.headers.get('x-request-id'))
  }
  bed.answers.slow = chat
  expect((await bed.ask('slow')).headers.get('x-tollgate-channel')).toBe('slow')
})
