// npm run bench:sockets [-- idle burst soak]
// What an idle WebSocket holds in memory, what an event costs over a WebSocket beside one over SSE, and whether memory stays flat while
// connections, kept answers and answers in the background come and go. Prints its method. All on this machine, the client included.
// SOAK_PART_SECONDS is how long each part of the soak lasts, 60 by default.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import { startTollgate, type TollgateProcess } from '../test/support/tollgate.ts'
import { type ServerPeer, startServer } from './peer.ts'
import { median } from './percentile.ts'
import { processCpuUs } from './process-cpu.ts'
import { chosenOf } from './table.ts'
import { startTemporary } from './temporary-postgres.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

const secret = 'bench-key-of-the-sockets-0001'
const idleSockets = 1_000
const warmSockets = 500
/** Time for the pings to be answered, and for a collection. */
const settleMs = 10_000
const eventsOfBurst = 5_000
/** Enough that the clock of processor time, in steps of 10 ms, is exact to a hundredth. */
const answersOfRound = 20
const rounds = 7
/** One for each part of the soak, whose memory is reported. */
const soakParts = 6
const soakPartMs = Number(process.env.SOAK_PART_SECONDS ?? 60) * 1000
const soakLanes = 32

interface Bed {
  tollgate: TollgateProcess
}

const scenarios = [
  { name: 'idle', run: idle },
  { name: 'burst', run: burst },
  { name: 'soak', run: soak },
]

const [postgres, native, chat] = await Promise.all([
  startTemporary(),
  startServer('responses-upstream.ts'),
  startServer('mock-upstream.ts'),
])
const tollgate = await startTollgate({
  databaseUrl: postgres.url,
  gatewayYaml: gatewayFile(native, chat),
  env: { NODE_ENV: 'production', ROLE: 'all', KEY_SOCKETS_MAX: '10000' },
})
try {
  for (const { name, run } of chosenOf(scenarios, process.argv.slice(2))) {
    console.log(`\n${name}`)
    await run({ tollgate })
  }
} finally {
  await tollgate.kill9()
  await Promise.all([native.stop(), chat.stop()])
  await postgres.stop()
}

/** Connections that have had no request, and connections that remember an answer. */
async function idle({ tollgate }: Bed): Promise<void> {
  console.log(
    `${warmSockets} connections with an answer each, which stay open, warm the process; then twice ${idleSockets} more; growth of its ` +
      `resident memory, ${settleMs / 1000} s after the last one`,
  )
  const open: WebSocket[] = await openAll(tollgate, warmSockets)
  for (const socket of open) await answerOver(socket, 'burst-10')
  await sleep(settleMs)
  for (const round of ['first', 'second']) {
    const before = residentKb(tollgate.pid)
    const sockets = await openAll(tollgate, idleSockets)
    open.push(...sockets)
    await sleep(settleMs)
    const idle = residentKb(tollgate.pid)
    for (const socket of sockets) await answerOver(socket, 'burst-10')
    await sleep(settleMs)
    const answered = residentKb(tollgate.pid)
    const each = (kb: number) => `${(kb / idleSockets).toFixed(1)} kB`
    console.log(
      `the ${round} ${idleSockets}: ${each(idle - before)} each before a request, ${each(answered - before)} after one of 10 events`,
    )
  }
  await closeAll(open)
}

/** The same answer over SSE and over a WebSocket, in turns. */
async function burst({ tollgate }: Bed): Promise<void> {
  console.log(
    `bursts of ${eventsOfBurst} events, one after the other; rounds of ${answersOfRound} answers over SSE, then as many over one WebSocket, ` +
      `${rounds} rounds after one that does not count; processor time of the gateway, medians`,
  )
  for (const [what, model] of [
    ['native', `burst-${eventsOfBurst}`],
    ['translated', `chat/burst-${eventsOfBurst}`],
  ] as const) {
    const sse: number[] = []
    const sockets: number[] = []
    for (let round = 0; round <= rounds; round++) {
      const overSse = await cpuOf(tollgate, () => answerOverSse(tollgate, model))
      const socket = await open(tollgate)
      const overSocket = await cpuOf(tollgate, () => answerOver(socket, model))
      socket.close()
      if (round === 0) continue
      sse.push(overSse)
      sockets.push(overSocket)
    }
    const [one, other] = [median(sse), median(sockets)]
    console.log(
      `${what}: SSE ${one.toFixed(2)} us an event, WebSocket ${other.toFixed(2)} us, ratio ${(other / one).toFixed(2)}`,
    )
  }
}

/** Clients that come, ask a few times each way and go. */
async function soak({ tollgate }: Bed): Promise<void> {
  console.log(
    `${soakLanes} clients at once, each on a connection of its own: three answers of 10 events over it, native and translated, one kept answer that ` +
      `continues, one in the background that is followed to its end; then a new connection. ${soakParts} parts of ${soakPartMs / 1000} s; ` +
      'resident memory of the gateway at the end of each',
  )
  let clients = 0
  let isOver = false
  const lane = async () => {
    while (!isOver) {
      const socket = await open(tollgate)
      for (const model of ['burst-10', 'chat/burst-10', 'burst-10']) await answerOver(socket, model)
      const first = await ask(tollgate, { input: 'Go.' })
      await ask(tollgate, { input: 'On.', previous_response_id: first })
      await ask(tollgate, { input: 'Go.', background: true, stream: true })
      await closeAll([socket])
      clients += 1
    }
  }
  const lanes = Array.from({ length: soakLanes }, lane)
  const resident: number[] = []
  for (let part = 1; part <= soakParts; part++) {
    await sleep(soakPartMs)
    resident.push(residentKb(tollgate.pid))
    console.log(`part ${part}: ${clients} clients, ${((resident.at(-1) ?? 0) / 1024).toFixed(0)} MB`)
  }
  isOver = true
  await Promise.all(lanes)
  const [second = 1] = resident.slice(1)
  console.log(`the last part against the second: ${((resident.at(-1) ?? 0) / second).toFixed(2)}`)
}

/** The id of the answer, when it is whole. */
async function ask({ url }: TollgateProcess, members: object): Promise<string> {
  const answer = await fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: 'chat/burst-10', ...members }),
  })
  const text = await answer.text()
  const id = /"id":\s*"(resp_\w+)"/.exec(text)?.[1]
  if (id === undefined || !text.includes('"completed"'))
    throw new Error(`no whole answer: ${text.slice(-300)}`)
  return id
}

/** Microseconds of processor time for one event. */
async function cpuOf({ pid }: TollgateProcess, answer: () => Promise<void>): Promise<number> {
  const before = processCpuUs(pid)
  for (let n = 0; n < answersOfRound; n++) await answer()
  return (processCpuUs(pid) - before) / (answersOfRound * eventsOfBurst)
}

async function answerOverSse({ url }: TollgateProcess, model: string): Promise<void> {
  const answer = await fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model, input: 'Go.', store: false, stream: true }),
  })
  const text = await answer.text()
  if (!text.includes('"response.completed"')) throw new Error(`no whole answer: ${text.slice(-300)}`)
}

async function answerOver(socket: WebSocket, model: string): Promise<void> {
  const over = new Promise<void>((resolve, reject) => {
    const take = (data: Buffer) => {
      // Only the type of the few last events is looked for: the client shares the machine.
      const start = data.toString('latin1', 0, 40)
      if (start.includes('response.completed')) resolve()
      else if (start.includes('"error"')) reject(new Error(data.toString()))
      else return
      socket.off('message', take)
    }
    socket.on('message', take)
  })
  socket.send(JSON.stringify({ type: 'response.create', model, input: 'Go.', store: false }))
  await over
}

async function openAll(tollgate: TollgateProcess, count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = []
  while (sockets.length < count) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => open(tollgate)))))
  }
  return sockets
}

async function open({ url }: TollgateProcess): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${secret}` },
    perMessageDeflate: false,
  })
  await once(socket, 'open')
  return socket
}

async function closeAll(sockets: readonly WebSocket[]): Promise<void> {
  await Promise.all(
    sockets.map((socket) => {
      socket.close()
      return once(socket, 'close')
    }),
  )
}

function residentKb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

function gatewayFile(native: ServerPeer, chat: ServerPeer): string {
  return `
models: [{ id: burst-10 }, { id: chat/burst-10 }, { id: burst-${eventsOfBurst} }, { id: chat/burst-${eventsOfBurst} }]
channels:
  - name: native
    protocols: { openai-responses: "http://127.0.0.1:${native.port}/v1" }
    api_keys: [bench-credential-0001]
    models: { 'burst-10': burst-10, 'burst-${eventsOfBurst}': 'burst-${eventsOfBurst}' }
    allow_private_address: true
  - name: chat
    protocols: { openai-chat: "http://127.0.0.1:${chat.port}/v1" }
    api_keys: [bench-credential-0002]
    models: { 'chat/burst-10': burst-10, 'chat/burst-${eventsOfBurst}': 'burst-${eventsOfBurst}' }
    allow_private_address: true
groups:
  - { name: default, models: ['*'], channels: ['*'], responses: { store: true, days: 1 } }
tenants:
  - { name: bench, keys: [{ name: bench, group: default, secret: ${secret} }] }
`
}
