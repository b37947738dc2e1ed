import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freeKey, paidKey, secretKey, startTestbed, type Testbed } from '../support/testbed.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'
import { chat, errorAnswer, frame } from '../support/upstream-plans.ts'

/** Several channels and credentials, asked by two real processes on one Postgres. Each test has models of its own. */

const narrowKey = 'narrow-key-for-tests-001'
const openMs = 500

let bed: Testbed
let second: TollgateProcess
/** What each channel answers, by its name. */
let answers: Record<string, (seen: SeenRequest, credential: string) => Plan | Promise<Plan>>
beforeAll(async () => {
  const env = {
    BREAKER_OPEN_MS: String(openMs),
    BREAKER_OPEN_MS_MAX: String(openMs),
    CREDENTIAL_REST_MS: '60000',
  }
  bed = await startTestbed({ yaml, env })
  second = await startTollgate({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: yaml(bed.upstream.url),
    env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20', ...env },
  })
})
afterAll(async () => {
  await second?.stop()
  await bed?.close()
})
beforeEach(() => {
  answers = {}
  bed.upstream.requests.length = 0
  bed.upstream.script((seen) => {
    const answer = answers[channelOf(seen)]
    return answer === undefined ? chat(seen) : answer(seen, credentialOf(seen))
  })
})

const channelOf = ({ path }: SeenRequest) => path.split('/')[1] ?? ''
const credentialOf = ({ headers }: SeenRequest) =>
  String(headers.authorization ?? headers['x-api-key']).replace('Bearer ', '')
const asked = (channel: string) => bed.upstream.requests.filter((seen) => channelOf(seen) === channel)
const session = (name: unknown) => ({ 'x-tollgate-session': String(name) })
const hello = [{ role: 'user', content: 'Hello' }]
const overloaded = () => errorAnswer(503, { type: 'server_error', message: 'Overloaded.' })
const limited = (retryAfter?: string) =>
  errorAnswer(
    429,
    { code: 'rate_limit_exceeded' },
    retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  )

async function ask(
  model: string,
  {
    of = bed.tollgate.url,
    path = '/v1/chat/completions',
    key = freeKey,
    headers = {},
    ...body
  }: {
    of?: string
    path?: string
    key?: string
    headers?: Record<string, string>
    [member: string]: unknown
  } = {},
) {
  const response = await fetch(`${of}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      'anthropic-version': '2023-06-01',
      ...headers,
    },
    body: JSON.stringify({ model, ...(path.endsWith('responses') ? {} : { messages: hello }), ...body }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    id: response.headers.get('x-request-id'),
  }
}

async function attemptsOf(id: string | null) {
  await bed.row(id)
  return bed.database
    .sql`SELECT channel, reason, passed_over, status, error_kind FROM attempts WHERE request_id = ${id} ORDER BY ordinal`
}

test('a channel that fails half its calls fails no client while another can answer, in two processes at once', async () => {
  let flip = 0
  answers.flaky = (seen) => (flip++ % 2 === 0 ? overloaded() : chat(seen))
  const both = [bed.tollgate.url, second.url]
  const all = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      ask('half', { of: both[i % 2] ?? '', user: `u${i}`, stream: i % 3 === 0 }),
    ),
  )
  expect(all.filter(({ status }) => status !== 200)).toEqual([])
  // All of them came at once: the breaker opened when the first had failed. Those that come now find it open.
  const open = () =>
    bed.database.sql`SELECT c.name FROM channel_breakers b JOIN channels c ON c.id = b.channel_id`
  expect((await open()).map(({ name }) => name)).toEqual(['flaky'])
  for (const of of both) {
    const { status, id, headers } = await ask('half', { of, headers: { 'x-tollgate-route': 'true' } })
    expect(status).toBe(200)
    if (headers.get('x-tollgate-channel') === 'flaky') continue
    const [passed, served] = await attemptsOf(id)
    expect(passed).toMatchObject({ channel: 'flaky', passed_over: true, status: null })
    expect(passed?.reason).toMatch(/^breaker (open for 1 s|half open.*): upstream_overloaded, status 503$/)
    expect(served).toMatchObject({ channel: 'steady', passed_over: false, status: 200 })
    expect(headers.get('x-tollgate-route')).toBe(`"flaky";passed_over="${passed?.reason}", "steady";served`)
    expect(await bed.row(id)).toMatchObject({ attempt_count: 1, channel: 'steady' })
  }
  // Every failure stands in the attempts, and the request that met it was answered by the other channel.
  const failed = await bed.database.sql`
    SELECT r.channel, r.attempt_count FROM requests r JOIN attempts a ON a.request_id = r.id
    WHERE a.channel = 'flaky' AND a.error_kind = 'upstream_overloaded'`
  expect(failed.length).toBeGreaterThanOrEqual(5)
  for (const row of failed) expect(row).toEqual({ channel: 'steady', attempt_count: 2 })
  // Half open, it is tried by one request at a time of both processes, however many come.
  let waiting = 0
  let most = 0
  answers.flaky = async (seen) => {
    most = Math.max(most, ++waiting)
    await sleep(100)
    waiting--
    return chat(seen)
  }
  const isServedByFlaky = async (of: string) =>
    (await ask('half', { of })).headers.get('x-tollgate-channel') === 'flaky'
  await expect
    .poll(
      async () =>
        (await Promise.all(both.flatMap((of) => [isServedByFlaky(of), isServedByFlaky(of)]))).some(Boolean),
      {
        timeout: 10_000,
      },
    )
    .toBe(true)
  expect(most).toBe(1)
  for (const of of both) await expect.poll(() => isServedByFlaky(of), { timeout: 10_000 }).toBe(true)
  await expect.poll(open).toEqual([])
}, 60_000)

test('with nobody else to ask, a channel whose breaker is open is asked as a last resort', async () => {
  answers.alone = overloaded
  for (let i = 0; i < 6; i++) expect((await ask('alone')).status).toBe(503)
  expect(asked('alone')).toHaveLength(6)
  answers.alone = chat
  const { status, id } = await ask('alone')
  expect(status).toBe(200)
  const attempts = await attemptsOf(id)
  expect(attempts.at(-1)?.reason).toMatch(/^(last resort \(breaker (half )?open.*\), )?only candidate$/)
})

test('a 503 with retry-after opens the channel at once, for as long', async () => {
  answers.first = () => ({ ...overloaded(), headers: { 'retry-after': '120' } })
  expect((await ask('told')).headers.get('x-tollgate-channel')).toBe('next')
  const { headers } = await ask('told', { headers: { 'x-tollgate-route': 'true' } })
  expect(headers.get('x-tollgate-route')).toMatch(
    /^"first";passed_over="breaker open for 1(20|19) s: .*", "next";served$/,
  )
  expect(asked('first')).toHaveLength(1)
})

test('a limit rests its credential only, and when all of them rest nobody is called and retry-after is true', async () => {
  answers.limits = (seen, credential) => (credential === 'limits-1' ? limited('30') : chat(seen))
  // Each session begins with one of the two: some of twenty with either.
  for (let i = 0; i < 20; i++) expect((await ask('limits', { headers: session(i) })).status).toBe(200)
  expect(asked('limits').filter((seen) => credentialOf(seen) === 'limits-1')).toHaveLength(1)
  answers.limits = () => limited('50')
  const told = await ask('limits', { headers: { 'x-tollgate-route': 'true' } })
  expect(told.status).toBe(429)
  expect(told.headers.get('x-tollgate-channel')).toBe('limits')
  expect(told.headers.get('x-tollgate-route')).toMatch(/^"limits";status=429;error=rate_limited;ms=\d+$/)
  // The one that rested first may be used first, whatever the other said.
  const least = Number(told.headers.get('retry-after'))
  expect(least).toBeGreaterThan(20)
  expect(least).toBeLessThanOrEqual(30)
  const calls = asked('limits').length
  const refused = await ask('limits')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(least)
  expect(asked('limits')).toHaveLength(calls)
  expect(await attemptsOf(refused.id)).toMatchObject([
    { passed_over: true, reason: expect.stringMatching(/^rate limit: rests for \d+ s$/) },
  ])
  expect(await bed.row(refused.id)).toMatchObject({ attempt_count: 0, outcome: 'failed', cost_nano: '0' })
  // Neither another model of these credentials nor the breaker knows of it.
  answers.limits = chat
  expect((await ask('limits-too')).headers.get('x-tollgate-channel')).toBe('limits')
})

test('a limit without an end diverts, and refuses nobody', async () => {
  answers.endless = () => limited()
  const { status, id } = await ask('endless')
  expect(status).toBe(200)
  expect(await attemptsOf(id)).toMatchObject([
    { channel: 'endless', status: 429 },
    { channel: 'endless-2', status: 200 },
  ])
  answers['endless-2'] = () => limited()
  await ask('endless')
  answers.endless = chat
  const last = await ask('endless', { headers: { 'x-tollgate-route': 'true' } })
  expect(last.status).toBe(200)
  expect((await attemptsOf(last.id)).at(-1)?.reason).toMatch(/^last resort \(rate limit: rests for \d+ s\)/)
})

test('a refused credential rests, another one of the channel answers, and the log names neither secret', async () => {
  answers.refused = (seen, credential) =>
    credential === 'refused-1' ? errorAnswer(401, { message: `Bad key ${credential}` }) : chat(seen)
  for (let i = 0; i < 20; i++) expect((await ask('refused', { headers: session(i) })).status).toBe(200)
  expect(asked('refused').filter((seen) => credentialOf(seen) === 'refused-1')).toHaveLength(1)
  const name = createHash('sha256').update('refused-1').digest('hex').slice(0, 8)
  const warned = () =>
    bed.tollgate
      .stderr()
      .split('\n')
      .filter((line) => line.includes(name))
  await expect.poll(warned).toHaveLength(1)
  expect(warned()[0]).toMatch(/"channel":"refused"/)
  expect(warned()[0]).not.toContain('refused-1')
})

test.each([400, 404, 409, 413, 422])('a %i of the client is not tried elsewhere', async (status) => {
  answers.client = () => errorAnswer(status, { type: 'invalid_request_error', message: 'No.' })
  const { status: told, id } = await ask('clients', { headers: session(status) })
  expect(told).toBe(status)
  expect(await attemptsOf(id)).toHaveLength(1)
})

test('a session has one channel and one credential in all processes, and comes back to them', async () => {
  const seenBy = async (session: string) => {
    const seen = new Set<string>()
    for (const of of [bed.tollgate.url, second.url, bed.tollgate.url]) {
      const before = bed.upstream.requests.length
      expect((await ask('sessions', { of, headers: { 'x-tollgate-session': session } })).status).toBe(200)
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
  // Two channels of two credentials each: that one of them has no session at all happens once in a thousand million.
  expect([...homes.keys()].sort()).toEqual(['left left-1', 'left left-2', 'right right-1', 'right right-2'])
  if (ofLeft === undefined) throw new Error('no session of the left channel')
  const [home] = await seenBy(ofLeft)
  answers.left = () => ({ ...overloaded(), headers: { 'retry-after': '1' } })
  const headers = { 'x-tollgate-session': ofLeft }
  expect((await ask('sessions', { headers })).headers.get('x-tollgate-channel')).toBe('right')
  expect((await ask('sessions', { headers })).headers.get('x-tollgate-channel')).toBe('right')
  answers.left = chat
  for (const of of [bed.tollgate.url, second.url]) {
    const served = async () => (await ask('sessions', { of, headers })).headers.get('x-tollgate-channel')
    await expect.poll(served, { timeout: 10_000 }).toBe('left')
  }
  expect(await seenBy(ofLeft)).toEqual([home])
}, 60_000)

test('a conversation has its channel without being named', async () => {
  const channels = new Set<string | null>()
  const turns: { role: string; content: string }[] = [{ role: 'user', content: 'Who was Ada?' }]
  for (let turn = 0; turn < 6; turn++) {
    const { headers } = await ask('sessions', { messages: turns })
    channels.add(headers.get('x-tollgate-channel'))
    turns.push({ role: 'assistant', content: `Answer ${turn}` }, { role: 'user', content: `And ${turn}?` })
  }
  expect(channels.size).toBe(1)
})

test('when every channel of a model failed its fallback answers, at its own price, and the reservation could bear it', async () => {
  answers.dear = overloaded
  const { status, headers, id } = await ask('dear', {
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
  expect((await attemptsOf(id))[1]?.reason).toBe('fallback spare, only candidate')
  expect(asked('spare')[0]?.model).toBe('spare-upstream')
})

test('what is held is the dearest of a model and its fallbacks', async () => {
  let held = 0n
  answers.cheap = async () => {
    const [row] = await bed.database.sql<{ amount: string }[]>`SELECT amount_nano AS amount FROM reservations`
    held = BigInt(row?.amount ?? 0)
    return overloaded()
  }
  const { status, id } = await ask('cheap', { key: paidKey, max_tokens: 10 })
  expect(status).toBe(200)
  // Ten output tokens of the fallback alone cost 10 * $1000 / 1e6.
  expect(held).toBeGreaterThan(10_000_000n)
  const row = await bed.row(id)
  expect(BigInt(String(row.cost_nano))).toBeLessThanOrEqual(held)
  expect(BigInt(String(row.cost_nano))).toBe(18_000_000n)
})

test('a fallback that the key may not use is passed over, and the error of its model stays', async () => {
  answers.dear = overloaded
  const { status, id, headers } = await ask('dear', { key: narrowKey })
  expect(status).toBe(503)
  expect(headers.get('x-tollgate-model')).toBeNull()
  expect(await attemptsOf(id)).toMatchObject([
    { channel: 'dear' },
    { channel: 'spare', passed_over: true, reason: 'fallback spare, this key may not use that model' },
  ])
  expect(asked('spare')).toEqual([])
})

test('a fallback without a price is passed over for whoever has a spending limit, and answers the others', async () => {
  answers.thrift = overloaded
  const { status, id } = await ask('thrift', { key: paidKey, max_tokens: 10 })
  expect(status).toBe(503)
  expect(await attemptsOf(id)).toMatchObject([
    { channel: 'thrift' },
    { passed_over: true, reason: 'fallback half, it has no price' },
  ])
  expect((await ask('thrift')).headers.get('x-tollgate-model')).toBe('half')
})

test('a fallback answers before a channel is asked whose breaker is open', async () => {
  answers.shut = () => ({ ...overloaded(), headers: { 'retry-after': '120' } })
  expect((await ask('shut')).headers.get('x-tollgate-model')).toBe('spare')
  const { headers, id } = await ask('shut')
  expect(headers.get('x-tollgate-model')).toBe('spare')
  expect(await attemptsOf(id)).toMatchObject([
    { channel: 'shut', passed_over: true },
    { channel: 'spare', passed_over: false, status: 200 },
  ])
  expect(asked('shut')).toHaveLength(1)
  // When it fails too, nobody else is left.
  answers.spare = overloaded
  answers.shut = chat
  const last = await ask('shut')
  expect(last.status).toBe(200)
  expect(last.headers.get('x-tollgate-channel')).toBe('shut')
  expect(last.headers.get('x-tollgate-model')).toBeNull()
})

test('the client’s own mistake goes to no fallback', async () => {
  answers.dear = () => errorAnswer(400, { type: 'invalid_request_error', message: 'No.' })
  expect((await ask('dear')).status).toBe(400)
  expect(asked('spare')).toEqual([])
})

test('an alias is its model, also for a channel that takes any name', async () => {
  const { status, id } = await ask('nickname')
  expect(status).toBe(200)
  expect(asked('any')[0]?.model).toBe('properly')
  expect(await bed.row(id)).toMatchObject({ requested_model: 'nickname' })
})

test('an earlier answer is continued with the credential that made it', async () => {
  answers.holds = ({ path }) => ({
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
    const { text } = await ask('holds', {
      path,
      input: `Hello ${i}`,
      headers: { 'x-tollgate-session': `s${i}` },
    })
    const first = bed.upstream.requests.at(-1)
    const held = JSON.parse(text).id
    // Also by a process that has not seen it, whatever the session says.
    const inPostgres = () => bed.database.sql`SELECT 1 FROM held_answers WHERE answer_id = ${held}`
    await expect.poll(inPostgres).toHaveLength(1)
    for (const of of [bed.tollgate.url, second.url]) {
      for (const session of ['x', 'y', 'z']) {
        const headers = { 'x-tollgate-session': session }
        expect(
          (await ask('holds', { of, path, headers, input: 'And?', previous_response_id: held })).status,
        ).toBe(200)
        const again = bed.upstream.requests.at(-1)
        expect(again && credentialOf(again)).toBe(first && credentialOf(first))
      }
    }
  }
})

test('a stream that breaks after its first words is not tried elsewhere, and counts against its channel', async () => {
  answers.breaks = () => ({
    chunks: [frame({ id: '1', choices: [{ index: 0, delta: { content: 'x' } }] }), { waitMs: 20 }],
    ending: 'cut',
  })
  for (let i = 0; i < 5; i++) {
    const { text } = await ask('breaks', { stream: true })
    expect(text).toContain('error')
  }
  expect(asked('breaks')).toHaveLength(5)
  expect(asked('breaks-2')).toHaveLength(0)
  expect((await ask('breaks', { stream: true })).headers.get('x-tollgate-channel')).toBe('breaks-2')
})

test('clients that leave do not open a breaker', async () => {
  answers.slow = () => ({
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
  answers.slow = chat
  expect((await ask('slow')).headers.get('x-tollgate-channel')).toBe('slow')
})

function yaml(url: string): string {
  const origin = url.replace(/\/v1$/, '')
  const channel = (name: string, models: string, { keys = 1, more = '', protocol = 'openai-chat' } = {}) => {
    const secrets = Array.from({ length: keys }, (_, i) => `${name}-${i + 1}`)
    const base =
      protocol === 'openai-chat' || protocol === 'openai-responses'
        ? `${origin}/${name}/v1`
        : `${origin}/${name}`
    return `  - { name: ${name}, protocols: { ${protocol}: ${base} }, api_keys: [${secrets.join(', ')}], models: ${models}, allow_private_address: true${more} }`
  }
  const plain = [
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
  ]
  const price = 'price: { input: "1", output: "2" }'
  return `
models:
${plain.map((id) => `  - { id: ${id} }`).join('\n')}
  - { id: dear, context_length: 1000, max_output_tokens: 100, price: { input: "100", output: "100" }, fallbacks: [spare] }
  - { id: spare, context_length: 1000, max_output_tokens: 100, ${price} }
  - { id: cheap, context_length: 1000, max_output_tokens: 100, ${price}, fallbacks: [gold] }
  - { id: gold, context_length: 1000, max_output_tokens: 100, price: { input: "1000", output: "1000" } }
  - { id: thrift, context_length: 1000, max_output_tokens: 100, ${price}, fallbacks: [half] }
  - { id: shut, fallbacks: [spare] }
  - { id: properly, aliases: [nickname] }
channels:
${channel('flaky', '[half]', { more: ', priority: 1' })}
${channel('steady', '[half]')}
${channel('alone', '[alone]')}
${channel('first', '[told]', { more: ', priority: 1' })}
${channel('next', '[told]')}
${channel('client', '[clients]', { keys: 2, more: ', priority: 1' })}
${channel('client-2', '[clients]')}
${channel('limits', '[limits, limits-too]', { keys: 2 })}
${channel('endless', '[endless]', { more: ', priority: 1' })}
${channel('endless-2', '[endless]')}
${channel('refused', '[refused]', { keys: 2 })}
${channel('left', '[sessions]', { keys: 2 })}
${channel('right', '[sessions]', { keys: 2 })}
${channel('dear', '[dear]')}
${channel('shut', '[shut]')}
${channel('thrift', '[thrift]')}
${channel('spare', '{ spare: spare-upstream }')}
${channel('cheap', '[cheap]')}
${channel('gold', '[gold]')}
${channel('any', '"*"').replace('models: "*"', 'models: { properly: "*" }')}
${channel('holds', '[holds]', { keys: 3, protocol: 'openai-responses' })}
${channel('breaks', '[breaks]', { more: ', priority: 1' })}
${channel('breaks-2', '[breaks]')}
${channel('slow', '[slow]', { more: ', priority: 1' })}
${channel('slow-2', '[slow]')}
groups:
  - { name: default, models: ['*'], channels: ['*'], client_gone: { policy: abort, seconds: 0 } }
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${freeKey} }
      - { name: narrow, group: default, secret: ${narrowKey}, allowed_models: [dear] }
  - name: paid
    balance_usd: "1.00"
    keys: [{ name: paid, group: default, secret: ${paidKey} }]
`
}
