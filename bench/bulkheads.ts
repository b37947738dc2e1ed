// npm run bench:bulkheads [-- summaries log hung bodies guesses]
// What one tenant, one channel or one client asks too much, and what the others notice of it: the same traffic of another
// tenant alone, and then beside it. Prints its method. All on this machine, the load included. DATABASE_URL names a
// Postgres server; without it, it starts one.
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { startTollgate, type TollgateProcess } from '../test/support/tollgate.ts'
import type { LoadResult, Task } from './load.ts'
import { type Rig, startRig } from './measure.ts'
import { percentile } from './percentile.ts'
import { peakResidentMb } from './process-cpu.ts'
import { chosenOf } from './table.ts'
import { helpIfAsked } from './usage.ts'
import { openUsageLog } from './usage-log.ts'
import { fillUsageLog } from './usage-rows.ts'

helpIfAsked(import.meta.filename)

const rows = 2_000_000
const ratePerSecond = 50
const windowMs = 10_000
const coldKeys = Array.from(
  { length: 100 },
  (_, n) => `bench-cold-key-of-tenant-${String(n).padStart(3, '0')}`,
)
const adminToken = 'bench-token-of-the-operator-01'
const asking = 'bench-key-of-the-tenant-that-asks'
const other = 'bench-key-of-the-other-tenant'

interface Bed {
  rig: Rig
  tollgate: TollgateProcess
}

const scenarios = [
  { name: 'summaries', run: summaries },
  { name: 'log', run: log },
  { name: 'hung', run: hung },
  { name: 'bodies', run: bodies },
  { name: 'guesses', run: guesses },
]

for (const { name, run } of chosenOf(scenarios, process.argv.slice(2))) {
  console.log(`\n${name}`)
  const rig = await startRig(await openUsageLog(process.env.DATABASE_URL))
  const silent = await startSilent()
  const tollgate = await startTollgate({
    databaseUrl: rig.usageLog.url,
    gatewayYaml: gatewayFile(rig.upstream.port, silent.port),
    env: {
      NODE_ENV: 'production',
      ROLE: 'api',
      UNAUTHENTICATED_ROWS_PER_MINUTE: '60',
      ADMIN_TOKEN: adminToken,
    },
  })
  try {
    await run({ rig, tollgate })
  } finally {
    await tollgate.kill9()
    silent.stop()
    await rig.stop()
  }
}

/** 12 clients of one tenant ask for the sums of its 2 M rows, one after the other. */
async function summaries(bed: Bed): Promise<void> {
  await besideTwelve(bed, 'summaries', () => ({ path: '/v1/usage/summary', secret: asking }))
}

/** 12 admins search 2 M rows of 30 days for what no index finds, one after the other. */
async function log(bed: Bed): Promise<void> {
  const from = new Date(Date.now() - 30 * 86_400_000).toISOString()
  const filters = [
    'not_user_agent=OpenAI/Python',
    'finish_reason=length',
    'total_ms=2101..',
    'not_stream_end=complete',
  ]
  await besideTwelve(bed, 'log queries', (n) => ({
    path: `/admin/v1/requests?from=${from}&${filters[n % filters.length]}`,
    secret: adminToken,
  }))
}

async function besideTwelve(
  bed: Bed,
  what: string,
  questionOf: (n: number) => { path: string; secret: string },
): Promise<void> {
  const { tollgate, rig } = bed
  const sql = postgres(rig.usageLog.url, { max: 1, onnotice: () => {} })
  const [tenant] = await sql`SELECT id FROM tenants WHERE name = 'asking'`
  await fillUsageLog(sql, String(tenant?.id), rows)
  await sql.end()
  console.log(
    `${ratePerSecond} requests/s of another tenant with a balance, ${windowMs / 1000} s; p95, refusals`,
  )
  await traffic(bed, 'warm-up')
  const alone = await traffic(bed, 'alone')
  let running = true
  const statuses = new Map<number, number>()
  const ask = async (n: number) => {
    const { path, secret } = questionOf(n)
    while (running) {
      const answer = await fetch(`${tollgate.url}${path}`, { headers: { authorization: `Bearer ${secret}` } })
      await answer.arrayBuffer()
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (answer.status !== 200) await sleep(200)
    }
  }
  const askers = Array.from({ length: 12 }, (_, n) => ask(n))
  await sleep(2_000)
  const beside = await traffic(bed, `beside 12 ${what}`)
  running = false
  await Promise.all(askers)
  console.log(`${what} by status: ${JSON.stringify(Object.fromEntries(statuses))}`)
  compare('p95', alone.latencyP95Us, beside.latencyP95Us)
}

/** 10,000 clients of a channel that takes calls and never answers. */
async function hung(bed: Bed): Promise<void> {
  console.log(`${ratePerSecond} requests/s on another channel, ${windowMs / 1000} s; p99, refusals`)
  await traffic(bed, 'warm-up')
  const alone = await traffic(bed, 'alone')
  const sockets = await openAll(10_000, bed.tollgate.port, (socket) => {
    const body = JSON.stringify({ model: 'silent', messages: [{ role: 'user', content: 'x' }] })
    socket.write(head(asking, Buffer.byteLength(body)) + body)
  })
  await sleep(5_000)
  const beside = await traffic(bed, 'beside 10,000 clients of a hung channel')
  for (const socket of sockets) socket.destroy()
  compare('p99', alone.latencyP99Us, beside.latencyP99Us)
}

/** 200 bodies of 31 MB that never end, of ten keys. */
async function bodies(bed: Bed): Promise<void> {
  const { tollgate } = bed
  console.log('200 connections send all but one byte of a body of 31 MB, 20 for each of ten keys')
  await traffic(bed, 'alone')
  const before = peakResidentMb(tollgate.pid)
  const bytes = 31 * 1024 * 1024
  const piece = Buffer.alloc(64 * 1024, 0x20)
  const statuses = new Map<string, number>()
  let next = 0
  const sockets = await openAll(200, tollgate.port, (socket) => {
    socket.write(head(coldKeys[next++ % 10] ?? '', bytes))
    let left = bytes - 1
    const send = () => {
      while (left > 0 && !socket.destroyed) {
        const now = Math.min(left, piece.length)
        left -= now
        if (!socket.write(piece.subarray(0, now))) return void socket.once('drain', send)
      }
    }
    socket.once('data', (data: Buffer) => {
      const status = data.toString('latin1', 9, 12)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    })
    send()
  })
  await sleep(10_000)
  await traffic(bed, 'beside the bodies')
  for (const socket of sockets) socket.destroy()
  console.log(`refused by status: ${JSON.stringify(Object.fromEntries(statuses))}`)
  console.log(
    `peak RSS ${before.toFixed(0)} MB before, ${peakResidentMb(tollgate.pid).toFixed(0)} MB after; BODIES_BYTES_MAX 512 MB`,
  )
}

/** 5,000 connections with a key each that no one has, and beside them 100 keys that no request has used before. */
async function guesses({ tollgate }: Bed): Promise<void> {
  console.log('5,000 unknown keys at once, and 100 good keys that the process does not have in memory')
  const statuses = new Map<string, number>()
  const sockets = await openAll(5_000, tollgate.port, () => {})
  for (const [n, socket] of sockets.entries()) {
    socket.once('data', (data: Buffer) => {
      const status = data.toString('latin1', 9, 12)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    })
    socket.write(
      `GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-tg-a-guess-of-a-key-${n}\r\n\r\n`,
    )
  }
  const took = await Promise.all(
    coldKeys.map(async (key) => {
      const begun = performance.now()
      const answer = await fetch(`${tollgate.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
      await answer.arrayBuffer()
      if (answer.status !== 200) throw new Error(`a good key got ${answer.status}`)
      return performance.now() - begun
    }),
  )
  await sleep(3_000)
  for (const socket of sockets) socket.destroy()
  console.log(`guesses by status: ${JSON.stringify(Object.fromEntries(statuses))}`)
  console.log(
    `good keys: p50 ${percentile(took, 0.5).toFixed(0)} ms, slowest ${Math.max(...took).toFixed(0)} ms`,
  )
}

async function traffic({ rig, tollgate }: Bed, name: string): Promise<LoadResult> {
  const drive: Task['drive'] = { kind: 'rate', perSecond: ratePerSecond, durationMs: windowMs }
  const task: Task = {
    origin: tollgate.url,
    keys: [other],
    protocol: 'openai-chat',
    model: 'json',
    bodyBytes: 900,
    drive,
  }
  rig.load.send(task)
  await rig.load.receive()
  await rig.load.receive()
  const result = (await rig.load.receive()) as LoadResult
  const ms = (us: number) => `${(us / 1000).toFixed(1)} ms`
  const { sent, windowCalls, errors, latencyP50Us, latencyP95Us, latencyP99Us } = result
  console.log(
    `${name}: ${sent} sent, ${windowCalls} ended in the window, p50 ${ms(latencyP50Us)}, p95 ${ms(latencyP95Us)}, p99 ${ms(latencyP99Us)}, errors ${JSON.stringify(errors)}`,
  )
  return result
}

function compare(what: string, alone: number, beside: number): void {
  console.log(`${what}: ${(beside / alone).toFixed(2)} times that alone`)
}

function head(key: string, bytes: number): string {
  return [
    'POST /v1/chat/completions HTTP/1.1',
    'host: x',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${bytes}`,
    '\r\n',
  ].join('\r\n')
}

async function openAll(count: number, port: number, onOpen: (socket: Socket) => void): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const batch = Array.from({ length: Math.min(200, count - sockets.length) }, async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      await new Promise<void>((resolve, reject) =>
        socket.once('connect', resolve).once('close', () => reject(new Error('closed'))),
      )
      socket.resume()
      onOpen(socket)
      return socket
    })
    sockets.push(...(await Promise.all(batch)))
  }
  return sockets
}

async function startSilent(): Promise<{ port: number; stop(): void }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).resume())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function gatewayFile(upstreamPort: number, silentPort: number): string {
  const price = { input: '2.50', output: '10.00' }
  const channel = (name: string, port: number, model: string) => ({
    name,
    protocols: { 'openai-chat': `http://127.0.0.1:${port}/v1` },
    api_keys: ['upstream-secret'],
    models: [model],
    allow_private_address: true,
  })
  return JSON.stringify({
    models: ['json', 'silent'].map((id) => ({ id, context_length: 128_000, max_output_tokens: 4096, price })),
    channels: [channel('mock', upstreamPort, 'json'), channel('hung', silentPort, 'silent')],
    groups: [{ name: 'bench', models: ['*'], channels: ['*'] }],
    tenants: [
      { name: 'asking', keys: [{ name: 'asking', group: 'bench', secret: asking }] },
      { name: 'other', balance_usd: '1000000.00', keys: [{ name: 'other', group: 'bench', secret: other }] },
      { name: 'cold', keys: coldKeys.map((secret, n) => ({ name: `cold-${n}`, group: 'bench', secret })) },
    ],
  })
}
