import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { abortKey, freeKey, gatewayYaml, paidKey } from '../support/gateway-yaml.ts'
import { type ProcessTestbed, startProcessTestbed } from '../support/process-testbed.ts'
import {
  afterSilence,
  answerBytes,
  chunkBytes,
  chunkedHead,
  type RawRequest,
  type RawUpstream,
  startRawUpstream,
} from '../support/raw-upstream.ts'
import { stopReading } from '../support/slow-client.ts'
import { patienceMs } from '../support/until.ts'
import { chatAnswer, chatStream, frame } from '../support/upstream-plans.ts'

/** Clients that leave, stop reading, or wait for 100 Continue: each has one row, and the group's policy decides about the upstream. */

const messages = [{ role: 'user', content: 'Hello' }]
const json = String(chatAnswer().body)
const events = [...(chatStream({ includeUsage: true }).chunks as Iterable<string>)]
const head = chunkedHead('text/event-stream')
const stallMs = 2_000

/** Its upstream accepts connections, and never completes a TLS handshake. */
const shyModel = "  - id: shy\n  - id: later-429\n  - id: later-503\n  - id: '*'\n"
/** Each has a channel of its own, because Retry-After opens the breaker of a channel. */
const laterChannel = (status: number) => `  - name: later-${status}
    protocols: { openai-chat: "${raw.url}/v1" }
    api_keys: [ upstream-credential-0003 ]
    models: [ later-${status} ]
    priority: 1
    allow_private_address: true
`
const shyChannel = () => `  - name: shy
    protocols: { openai-chat: "https://127.0.0.1:${raw.port}/v1" }
    api_keys: [ upstream-credential-0002 ]
    models: [ shy ]
    priority: 1
    allow_private_address: true
${[429, 503].map(laterChannel).join('')}groups:
`

let raw: RawUpstream
let bed: ProcessTestbed
let act: (request: RawRequest) => void

beforeAll(async () => {
  raw = await startRawUpstream({ onRequest: (request) => act(request) })
  bed = await startProcessTestbed({
    yaml: () =>
      gatewayYaml(`${raw.url}/v1`).replace("  - id: '*'\n", shyModel).replace('groups:\n', shyChannel()),
    env: {
      UPSTREAM_CONNECT_MS: '1500',
      UPSTREAM_FIRST_BYTE_MS: '2500',
      UPSTREAM_IDLE_MS: '5000',
      CLIENT_STALL_MS: String(stallMs),
      BREAKER_FAILURES: '1000',
      BODY_BYTES_MAX: '100000',
    },
  })
})
afterAll(async () => {
  await bed.close()
  await raw.close()
})
beforeEach(() => {
  raw.requests.length = 0
  act = ({ socket }) => void socket.write(answerBytes(json))
})

const policies = [
  ['drain', freeKey],
  ['abort', abortKey],
] as const

test.for(policies)(
  'a client that leaves while the upstream connection is being made pays nothing, and its request is not sent (%s)',
  async ([policy, key]) => {
    // A connection that is still being made for an earlier request would serve this one too.
    await expect.poll(() => raw.sockets.size, { timeout: patienceMs }).toBe(0)
    const client = send(post({ model: 'shy', messages, stream: true, user: policy }, key))
    await expect.poll(() => raw.sockets.size, { timeout: patienceMs }).toBeGreaterThan(0)
    client.socket.destroy()
    expect(await onlyRow('shy', 1 + policies.findIndex(([name]) => name === policy))).toMatchObject({
      status: 499,
      outcome: 'cancelled',
      stream_end: 'client_gone',
      error_kind: null,
      cost_nano: '0',
    })
  },
)

test('a client that leaves while its request waits for money pays nothing, and its request is not sent', async () => {
  const [account] = await bed.database.sql`
    SELECT id FROM tenants WHERE name = 'paid'`
  let client: ReturnType<typeof send> | undefined
  await bed.database.sql.begin(async (sql) => {
    await sql`SELECT 1 FROM accounts WHERE id = ${String(account?.id)} FOR UPDATE`
    client = send(post({ model: 'priced', messages, max_tokens: 5, user: 'locked' }, paidKey))
    await expect
      .poll(async () => {
        const [waiting] = await bed.database.sql`
          SELECT count(*)::int AS n FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`
        return waiting?.n
      })
      .toBeGreaterThan(0)
    client.socket.destroy()
    await noticed()
  })
  expect(await onlyRow('priced')).toMatchObject({
    status: 499,
    outcome: 'cancelled',
    stream_end: 'client_gone',
    cost_nano: '0',
    attempt_count: 0,
  })
  expect(raw.requests).toHaveLength(0)
  await expect
    .poll(async () => {
      const [now] = await bed.database
        .sql`SELECT reserved_nano FROM accounts WHERE id = ${String(account?.id)}`
      return now?.reserved_nano
    })
    .toBe('0')
})

const deaths: [
  how: string,
  die: (socket: Socket) => void,
  beforeHeaders: Record<string, unknown>,
  midStream: Record<string, unknown>,
][] = [
  ['is reset', (socket) => void socket.resetAndDestroy(), { cost_nano: null }, { usage_source: 'estimated' }],
  ['ends without a word', (socket) => void socket.end(), { cost_nano: null }, { usage_source: 'estimated' }],
  ['falls silent', () => {}, { cost_nano: null }, { usage_source: 'estimated' }],
  [
    'goes on to its end',
    (socket) => void socket.write(`${events.slice(3).map(chunkBytes).join('')}0\r\n\r\n`),
    { cost_nano: null },
    { usage_source: 'upstream', output_tokens: 5 },
  ],
]

test.for(deaths)(
  'a client leaves and its upstream %s: one row says that it left',
  async ([how, die, , expected]) => {
    const model = `drained-${deaths.findIndex(([name]) => name === how)}`
    const asked = Promise.withResolvers<RawRequest>()
    act = (request) => {
      request.socket.write(head + events.slice(0, 3).map(chunkBytes).join(''))
      asked.resolve(request)
    }
    const client = send(post({ model, messages, stream: true, stream_options: { include_usage: true } }))
    await client.received('token-1')
    client.socket.destroy()
    await noticed()
    die((await asked.promise).socket)
    expect(await onlyRow(model)).toMatchObject({
      status: 200,
      outcome: 'cancelled',
      stream_end: 'client_gone',
      error_kind: null,
      ...expected,
    })
  },
)

test.for(deaths.slice(0, 3))(
  'a client leaves before the headers and its upstream %s: one row says that it left',
  async ([how, die, expected]) => {
    const model = `undrained-${deaths.findIndex(([name]) => name === how)}`
    const asked = Promise.withResolvers<RawRequest>()
    act = (request) => asked.resolve(request)
    const client = send(post({ model, messages, stream: true }))
    const { socket } = await asked.promise
    client.socket.destroy()
    await noticed()
    die(socket)
    expect(await onlyRow(model)).toMatchObject({
      status: 499,
      outcome: 'cancelled',
      stream_end: 'client_gone',
      usage_source: 'none',
      ...expected,
    })
  },
)

test('a client leaves and its upstream refuses: the row says that it left, and that it paid nothing', async () => {
  const asked = Promise.withResolvers<RawRequest>()
  act = (request) => asked.resolve(request)
  const client = send(post({ model: 'main', messages }))
  const { socket } = await asked.promise
  client.socket.destroy()
  await noticed()
  socket.write(answerBytes('{"error":{"message":"Oops."}}', { status: '500 Oops' }))
  const row = await onlyRow('main')
  expect(row).toMatchObject({ status: 499, outcome: 'cancelled', stream_end: 'client_gone', cost_nano: '0' })
  const attempts = await bed.database
    .sql`SELECT status FROM attempts WHERE request_id = ${String(row.id)} AND NOT passed_over`
  expect(attempts).toMatchObject([{ status: 500 }])
})

test.for(policies)(
  'a client that stops reading is disconnected, the policy of its group applies to the upstream, and there is one row (%s)',
  async ([policy, key]) => {
    const model = `stalled-${policy}`
    const over = Promise.withResolvers<string>()
    let sent = 0
    act = ({ socket }) => {
      socket.on('close', () => over.resolve('closed'))
      socket.write(head)
      // More bytes than all buffers on the way hold together, and then the end.
      pour(
        socket,
        () => sent++ < 600,
        () => {
          socket.write(`${events.slice(-3).map(chunkBytes).join('')}0\r\n\r\n`, () => over.resolve('taken'))
        },
      )
    }
    const client = send(post({ model, messages, stream: true, stream_options: { include_usage: true } }, key))
    await client.received('zzz')
    client.socket.pause()
    const row = await onlyRow(model)
    expect(row).toMatchObject({
      status: 200,
      outcome: 'cancelled',
      stream_end: 'client_gone',
      error_kind: null,
      usage_source: policy === 'drain' ? 'upstream' : 'estimated',
    })
    expect(Number(row.total_ms)).toBeGreaterThanOrEqual(stallMs)
    expect(await over.promise).toBe(policy === 'drain' ? 'taken' : 'closed')
    client.socket.resume()
    await client.closed
    expect(client.text()).not.toContain('[DONE]')
  },
)

test('a client that reads slowly, and one that waits for a slow upstream, stay connected', async () => {
  let isEnough = false
  act = ({ socket, body }) => {
    socket.write(head)
    const finish = () => void socket.write(`${events.map(chunkBytes).join('')}0\r\n\r\n`)
    if (body.includes('patient')) afterSilence(stallMs * 1.7, finish)
    else pour(socket, () => !isEnough, finish)
  }
  const patient = send(post({ model: 'patient', messages, stream: true }))
  const slow = send(post({ model: 'slow', messages, stream: true }))
  await slow.received('zzz')
  // It pauses for a fifth of a second at a time, and for much longer than the bound in all.
  for (let pause = 0; pause < 25; pause++) {
    await stopReading([slow.socket], 200)
    await slow.heardMore(2_000_000)
  }
  isEnough = true
  await slow.received('[DONE]')
  await patient.received('[DONE]')
  for (const client of [slow, patient]) client.socket.destroy()
  expect(await onlyRow('slow')).toMatchObject({ outcome: 'succeeded' })
  expect(await onlyRow('patient')).toMatchObject({ outcome: 'succeeded' })
})

test('a client that does not read the end of an answer is disconnected as well', async () => {
  act = ({ socket }) =>
    void socket.write(answerBytes(String(chatAnswer({ content: 'y'.repeat(20_000_000) }).body)))
  const body = JSON.stringify({ model: 'tail', max_tokens: 5, messages })
  const client = send(
    post(body, freeKey, { path: '/v1/messages', headers: 'anthropic-version: 2023-06-01\r\n' }),
  )
  await client.received('yyy')
  client.socket.pause()
  expect(await onlyRow('tail')).toMatchObject({ outcome: 'succeeded', stream_end: 'complete' })
  // A closed connection answers the next byte with a reset, which even a socket that does not read sees.
  const knock = setInterval(() => client.socket.write('x'), stallMs * 3)
  await client.closed
  clearInterval(knock)
  expect(client.text().length).toBeLessThan(20_000_000)
})

test('TCP keep-alive watches both sides of a silent call', async () => {
  const asked = Promise.withResolvers<RawRequest>()
  act = (request) => asked.resolve(request)
  const client = send(post({ model: 'silent', messages, stream: true }))
  const { socket: upstream } = await asked.promise
  expect(keepAliveTimer(bed.tollgate.port, Number(client.socket.localPort))).toBe(true)
  expect(keepAliveTimer(Number(upstream.remotePort), raw.port)).toBe(true)
  upstream.write(answerBytes(json))
  await client.received('Hello there.')
  client.socket.destroy()
})

const expectations: [what: string, request: () => string, status: number][] = [
  [
    'without a key',
    () => post('x'.repeat(50), 'no-such-key-anywhere', { headers: 'expect: 100-continue\r\n' }),
    401,
  ],
  ['too large', () => post('x'.repeat(100_001), freeKey, { headers: 'expect: 100-continue\r\n' }), 413],
  [
    'to a wrong path',
    () => post('x', freeKey, { path: '/v1/nowhere', headers: 'expect: 100-continue\r\n' }),
    404,
  ],
  [
    'in no known encoding',
    () => post('x', freeKey, { headers: 'expect: 100-continue\r\ncontent-encoding: lzma\r\n' }),
    400,
  ],
]

test.for(expectations)(
  'an announced body %s is not asked for: its request is answered at once, and has a row',
  async ([, request, status]) => {
    const client = send(`${request().split('\r\n\r\n')[0]}\r\n\r\n`)
    await client.closed
    expect(client.text().match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`])
    expect(client.text()).toMatch(/connection: close/i)
    expect(await bed.row(/x-request-id: (\S+)/.exec(client.text())?.[1] ?? null)).toMatchObject({ status })
  },
)

test('an announced good body is asked for, and the connection goes on', async () => {
  const request = post({ model: 'announced', messages }, freeKey, { headers: 'expect: 100-continue\r\n' })
  const [announcement = '', body = ''] = request.split('\r\n\r\n')
  const client = send(`${announcement}\r\n\r\n`)
  await client.received('HTTP/1.1 100 Continue\r\n\r\n')
  expect(raw.requests).toHaveLength(0)
  client.socket.write(body)
  await client.received('Hello there.')
  client.socket.write(post({ model: 'announced', messages }))
  await expect
    .poll(() => client.text().match(/HTTP\/1\.1 \d+/g))
    .toEqual(['HTTP/1.1 100', 'HTTP/1.1 200', 'HTTP/1.1 200'])
  client.socket.destroy()
})

test.for([429, 503])("an upstream's Retry-After reaches the client (%i)", async (status) => {
  act = ({ socket }) =>
    void socket.write(answerBytes('{}', { status: `${status} Later`, headers: 'retry-after: 7\r\n' }))
  const response = await bed.chat({ model: `later-${status}`, messages })
  expect(response.status).toBe(status)
  await response.text()
  expect(response.headers.get('retry-after')).toBe('7')
})

test.for(['plain', 'gzip'])('fast streams (%s) to slow clients do not fill the memory', async (how) => {
  // A hundred thousand bytes that decode to a hundred million: twenty of them would exceed the memory.
  const swollen = how === 'gzip' ? gzipSync(large.repeat(1_700)) : Buffer.alloc(0)
  act = ({ socket }) => {
    if (how === 'plain') {
      socket.write(head)
      pour(
        socket,
        () => true,
        () => {},
      )
      return
    }
    socket.write(chunkedHead('text/event-stream', 'content-encoding: gzip\r\n'))
    socket.write(chunkBytes(swollen))
  }
  // A gateway that disconnects no client.
  const patient = await startProcessTestbed({ yaml: () => gatewayYaml(`${raw.url}/v1`) })
  const clients = Array.from({ length: 20 }, () =>
    send(post({ model: 'torrent', messages, stream: true }, abortKey), patient.tollgate.port),
  )
  for (const client of clients) {
    client.forget()
    await client.received('zzz')
  }
  const sockets = clients.map(({ socket }) => socket)
  const before = residentBytes(patient)
  let most = before
  for (let look = 0; look < 20; look++) {
    await stopReading(sockets, 150)
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve))))
    most = Math.max(most, residentBytes(patient))
  }
  for (const socket of sockets) socket.destroy()
  await patient.close()
  expect(most - before).toBeLessThan(200 * 1024 * 1024)
})

const large = frame({ id: 'x', choices: [{ index: 0, delta: { content: 'z'.repeat(60_000) } }] })
const largeChunk = chunkBytes(large)

/** Write large events as fast as the socket takes them, while `isMore` returns true. Then finish. */
function pour(socket: Socket, isMore: () => boolean, finish: () => void): void {
  const more = () => {
    while (socket.writable) {
      if (!isMore()) {
        socket.off('drain', more)
        finish()
        return
      }
      if (!socket.write(largeChunk)) return
    }
  }
  socket.on('drain', more)
  more()
}

function post(
  body: unknown,
  key: string = freeKey,
  { path = '/v1/chat/completions', headers = '' }: { path?: string; headers?: string } = {},
): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n${headers}\r\n${text}`
}

function send(text: string, port = bed.tollgate.port) {
  const socket = connect(port, '127.0.0.1', () => socket.write(text))
  const received: string[] = []
  let tail = ''
  let keeps = true
  let heardBytes = 0
  const waiting = new Set<() => void>()
  socket.setEncoding('latin1').on('data', (data: string) => {
    if (keeps) received.push(data)
    heardBytes += data.length
    tail = (tail + data).slice(-200_000)
    for (const look of waiting) look()
  })
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return {
    socket,
    closed,
    text: () => received.join(''),
    heardMore(bytes: number): Promise<void> {
      const enough = heardBytes + bytes
      return new Promise((resolve) => {
        const look = () => {
          if (heardBytes < enough) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
      })
    },
    /** Drop all bytes that come from now on. */
    forget() {
      keeps = false
    },
    received(part: string): Promise<void> {
      return new Promise((resolve, reject) => {
        const look = () => {
          if (!tail.includes(part)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        void closed.then(() => reject(new Error(`closed before ${part}: ${tail.slice(-500)}`)))
        look()
      })
    },
  }
}

/** The newest row of a model, when it has this many rows. */
async function onlyRow(model: string, count = 1): Promise<Record<string, unknown>> {
  const read = () => bed.database.sql`SELECT * FROM requests WHERE requested_model = ${model} ORDER BY id`
  await expect.poll(async () => (await read()).length, { timeout: patienceMs }).toBe(count)
  return (await read()).at(-1) ?? {}
}

/** Waits until the gateway knows that the client has left. */
async function noticed(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await (await fetch(`${bed.tollgate.url}/healthz`)).text()
}

/** Resident memory of a gateway process. */
function residentBytes({ tollgate }: ProcessTestbed): number {
  const status = readFileSync(`/proc/${tollgate.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

/** Whether the kernel's timer of a connection is that of keep-alive: https://docs.kernel.org/networking/proc_net_tcp.html */
function keepAliveTimer(localPort: number, remotePort: number): boolean {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0')
  const lines = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  const line = lines.find(
    ([, local, remote]) => local?.endsWith(`:${hex(localPort)}`) && remote?.endsWith(`:${hex(remotePort)}`),
  )
  return line?.[5]?.startsWith('02:') === true
}
