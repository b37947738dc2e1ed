import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { modelEndpoints } from '../../src/pipeline/endpoints.ts'
import { amount } from '../support/amount.ts'
import { anyAnswer, mutatedBytes } from '../support/chance.ts'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { measureLongestTurn } from '../support/longest-turn.ts'
import { adminToken } from '../support/operator-client.ts'
import { type Random, seeded } from '../support/random.ts'
import { heardFrom, idsOf, statusesOf } from '../support/raw-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { anyMoment, patienceMs } from '../support/until.ts'
import { chat } from '../support/upstream-plans.ts'

/** Requests, uploads, frames and answers by chance, at all paths of one gateway. `npm run chaos` sends fifty times as many. */

let bed: Testbed
const escaped: unknown[] = []
const note = (error: unknown) => void escaped.push(error)
beforeAll(async () => {
  process.on('uncaughtException', note).on('unhandledRejection', note)
  bed = await startTestbed({
    env: {
      ADMIN_TOKEN: adminToken,
      FILE_BYTES_MAX: '500000',
      // Channels and credentials that rest would keep requests from the upstream, and jobs from their end.
      BREAKER_FAILURES: '1000',
      BREAKER_OPEN_MS: '1',
      BREAKER_OPEN_MS_MAX: '1',
      CREDENTIAL_REST_MS: '1',
      UPSTREAM_IDLE_MS: '2000',
      IMAGE_WAIT_MS: '200',
      IMAGE_BACKOFF_MS: '10',
      IMAGE_SWEEP_MS: '100',
    },
    yaml,
  })
})
afterAll(async () => {
  await bed.close()
  process.off('uncaughtException', note).off('unhandledRejection', note)
})

const formats = ['openai-chat', 'anthropic-messages', 'openai-responses', 'gemini'] as const

/** A channel and a model for each format of upstreams, and the model `all`, which speaks them all. */
function yaml(url: string): string {
  const channel = (name: string, protocols: readonly string[]) => ({
    name,
    protocols: Object.fromEntries(protocols.map((protocol) => [protocol, url])),
    api_keys: ['upstream-credential-0001'],
    models: { [name]: name },
    allow_private_address: true,
  })
  const price = { input: '1', output: '2' }
  return JSON.stringify({
    models: ['all', ...formats].map((id) => ({ id, context_length: 1000, max_output_tokens: 100, price })),
    channels: [
      channel('all', [...formats, 'openai-images']),
      ...formats.map((name) => channel(name, [name])),
    ],
    groups: [{ name: 'default', models: ['*'], channels: ['*'], responses: { store: true, days: 1 } }],
    tenants: [
      { name: 'free', keys: [{ name: 'free', group: 'default', secret: freeKey }] },
      { name: 'paid', balance_usd: '1.00', keys: [{ name: 'paid', group: 'default', secret: paidKey }] },
    ],
  })
}

const many = amount('RANDOM_REQUESTS', { test: 2_000, chaos: 100_000 })
const timeout = Math.max(180_000, many * 60)

test('whatever clients and upstreams send, the gateway lives, each request has its row, and nothing is held in the end', {
  timeout,
}, async () => {
  const random = seeded(20261128)
  const paths = await everyPath()
  bed.upstream.script(anyAnswer(random))
  const failed: string[] = []
  const ids: string[] = []
  const hear = ({ path, isPost, text }: Heard) => {
    const statuses = statusesOf(text)
    if (statuses.includes(500)) failed.push(`${path}\n${text}`)
    // Requests of guessed keys share rows.
    if (isPost && !statuses.includes(401) && modelEndpoints.some((endpoint) => endpoint.path === path))
      ids.push(...idsOf(text))
  }
  const queue = formerCrashes(paths)
  let left = many
  const client = async () => {
    while (left-- > 0) {
      bed.upstream.requests.length = 0
      const former = queue.pop()
      if (former === undefined && random.upTo(19) === 0) await someFrames(random)
      else hear(await ask(former ?? someRequest(paths, random), random))
    }
  }
  const startedAt = performance.now()
  const turns = measureLongestTurn()
  await Promise.all(Array.from({ length: 32 }, client))
  const seconds = (performance.now() - startedAt) / 1000
  console.log(
    `${many} requests took ${seconds.toFixed(1)} s; the longest turn of the event loop used ${turns.stop().toFixed(0)} ms of the processor`,
  )
  expect(queue).toEqual([])
  expect(escaped).toEqual([])
  expect(failed).toEqual([])

  bed.upstream.script(chat)
  const asked = await bed.chat({ model: 'all', messages: [{ role: 'user', content: 'Hello' }] })
  expect(asked.status).toBe(200)
  const { bodies, requests, sockets } = bed.tollgate.context
  const { sql } = bed.database
  const held = async () => ({
    bytes: bodies.bytes,
    requests: requests.size,
    sockets: sockets.size,
    reservations: (await sql`SELECT request_id FROM reservations`).length,
  })
  const nothing = { bytes: 0, requests: 0, sockets: 0, reservations: 0 }
  await expect.poll(held, { timeout: patienceMs }).toEqual(nothing)
  expect(ids.length).toBeGreaterThan(many / 10)
  // The row of an image's job comes at its end, after the answer.
  const withoutRow = async () => {
    await bed.tollgate.ship()
    const rows = new Set((await sql<{ id: string }[]>`SELECT id FROM requests`).map(({ id }) => id))
    return ids.filter((id) => !rows.has(id))
  }
  await expect.poll(withoutRow, { timeout: patienceMs }).toEqual([])
})

interface Path {
  method: string
  path: string
}

async function everyPath(): Promise<Path[]> {
  const document = (await (await fetch(`${bed.tollgate.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>
  }
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ path, method: method.toUpperCase() })),
  )
  expect(all.length).toBeGreaterThan(100)
  return all
}

const messages = [
  { role: 'system', content: 'You are brief.' },
  { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c', content: 'done' },
]
const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }]
const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }]
const content = [
  { type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } },
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
]
/** A good body for each format. Other paths take one of them too. */
const bodies = (model: string, stream: boolean): Record<string, unknown> => ({
  '/v1/chat/completions': { model, stream, messages, tools, max_tokens: 50, temperature: 1 },
  '/v1/responses': {
    model,
    stream,
    input,
    tools: [{ type: 'function', name: 'f', parameters: {} }],
    store: true,
  },
  '/v1/messages': { model, stream, max_tokens: 50, system: 'Hi', messages: [{ role: 'user', content }] },
  '/v1/embeddings': { model, input: ['Hello'] },
  '/v1/completions': { model, stream, prompt: 'Hello' },
  '/v1/images/generations': { model, prompt: 'a door', n: 1 },
  '/v1/translate': { from: 'openai-chat', to: 'gemini', request: { model, messages } },
})

interface Asked {
  path: string
  bytes: Buffer
  /** The gateway waits for more, or its answer has no end: the client ends the connection. */
  isOpenEnded: boolean
  /** Leaves when this many bytes are sent; undefined: stays until the answer is over. */
  leavesAt: number | undefined
}

const formType = 'multipart/form-data; boundary=B'

/** What former versions could not bear: names of 400 KB and deep nesting, wherever clients send JSON, and such a name of a file. */
function formerCrashes(paths: readonly Path[]): Asked[] {
  const name = 'x'.repeat(400_000)
  const form = `--B\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\nhello\r\n--B--\r\n`
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const posts = paths.filter(
    ({ method, path }) => method === 'POST' && path.startsWith('/v1/') && !path.includes('{'),
  )
  const all = posts.flatMap(({ path }) => {
    const known = bodies('all', false)[path] ?? { model: 'all', messages }
    return [
      { path, body: JSON.stringify({ ...known, model: name }) },
      { path, body: JSON.stringify({ ...known, input: '?', messages: '?' }).replaceAll('"?"', deep) },
    ]
  })
  const asked = (path: string, type: string, body: string) => ({
    path,
    bytes: Buffer.from(
      `POST ${path} HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\nauthorization: Bearer ${freeKey}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    ),
    isOpenEnded: false,
    leavesAt: undefined,
  })
  return [
    asked('/v1/files', formType, form),
    ...all.map(({ path, body }) => asked(path, 'application/json', body)),
  ]
}

function someRequest(paths: readonly Path[], random: Random): Asked {
  const models = random.upTo(2) > 0
  const { method, path } = models
    ? { method: 'POST', path: random.pick(modelEndpoints).path }
    : random.pick([...paths, { method: 'POST', path: '/v1/files' }])
  const known = bodies(random.pick(['all', ...formats]), random.upTo(1) === 0)
  const isForm = path === '/v1/files' || random.upTo(30) === 0
  const body = isForm
    ? someForm(random)
    : mutatedBytes(known[path] ?? random.pick(Object.values(known)), random)
  const target = path.replaceAll(/\{[^}]*\}/g, () =>
    random.pick(['x', '%00', '%ff', '..', 'a'.repeat(300), '01a221f0-80b8-7350-bc78-23b399a1cf10', '1']),
  )
  const query = random.pick([
    '',
    '',
    '',
    '?limit=-1',
    '?after=%00',
    '?a=1&a=2',
    `?order=${'x'.repeat(2_000)}`,
  ])
  const key = path.startsWith('/admin')
    ? adminToken
    : random.pick([freeKey, freeKey, freeKey, freeKey, paidKey, paidKey, paidKey, 'no-key-of-anyone-0001'])
  const isShort = random.upTo(40) === 0
  const lines = [
    `${random.upTo(40) === 0 ? 'PURGE' : method} ${target}${query} HTTP/1.1`,
    'host: gateway',
    'connection: close',
    random.pick([`authorization: Bearer ${key}`, `x-api-key: ${key}`]),
    `content-type: ${isForm ? formType : random.upTo(9) > 0 ? 'application/json' : random.pick(['text/plain', 'x'])}`,
    `content-length: ${isShort ? body.length + 10 : body.length}`,
    ...random.pick([
      [],
      [],
      ['anthropic-version: 2023-06-01'],
      [`idempotency-key: ${random.pick(['a', 'x'.repeat(600)])}`],
      ['x-tollgate-strict: true'],
      [`user-agent: ${'xSG.'.repeat(1_000)}`],
      ['content-encoding: gzip'],
      ['x-tollgate-tags: {"a":"b"}'],
      ['expect: 100-continue'],
    ]),
  ]
  const bytes = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
  return {
    path,
    bytes,
    isOpenEnded: isShort || path.endsWith('/tail'),
    leavesAt: random.upTo(9) === 0 ? random.upTo(bytes.length) : undefined,
  }
}

/** The first is a name that once ended the process. */
function someForm(random: Random): Buffer {
  const name = random.pick(['x'.repeat(256), 'a.txt', '', '\u0007', '..\\..', '%ff', 'a"; name="b'])
  const part = () =>
    random.pick([
      `--B\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\nhello\r\n`,
      '--B\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n',
      '--B\r\ncontent-disposition: form-data\r\n\r\nx\r\n',
      '--B\r\n\r\n',
      `--B\r\nx: ${'y'.repeat(5_000)}\r\n\r\nz\r\n`,
    ])
  const parts = Array.from({ length: random.upTo(4) }, part)
  const whole = Buffer.from(`${parts.join('')}${random.upTo(2) === 0 ? '' : '--B--\r\n'}`)
  return random.upTo(3) === 0 ? whole.subarray(0, random.upTo(whole.length)) : whole
}

interface Heard {
  path: string
  isPost: boolean
  text: string
}

async function ask({ path, bytes, isOpenEnded, leavesAt }: Asked, random: Random): Promise<Heard> {
  const socket = connect(bed.tollgate.port, '127.0.0.1')
  const heard = heardFrom(socket)
  socket.write(bytes.subarray(0, leavesAt))
  if (leavesAt !== undefined) void anyMoment(random, 20).then(() => socket.resetAndDestroy())
  // An endless answer has nothing more to say by then.
  else if (isOpenEnded) socket.setTimeout(300, () => socket.end())
  return { path, isPost: bytes.toString('latin1', 0, 5) === 'POST ', text: await heard }
}

async function someFrames(random: Random): Promise<void> {
  const socket = new WebSocket(`${bed.tollgate.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${freeKey}` },
  })
  const over = new Promise<void>((resolve) =>
    socket.on('close', () => resolve()).on('error', () => resolve()),
  )
  await Promise.race([new Promise((resolve) => socket.on('open', resolve)), over])
  for (let frame = random.upTo(3); frame >= 0 && socket.readyState === WebSocket.OPEN; frame--) {
    const create = {
      type: 'response.create',
      ...(bodies(random.pick(['all', ...formats]), true)['/v1/responses'] as object),
    }
    socket.send(mutatedBytes(create, random), { binary: random.upTo(9) === 0 })
  }
  await anyMoment(random, 60)
  if (random.upTo(1) === 0) socket.close()
  else socket.terminate()
  await over
}
