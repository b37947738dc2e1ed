// npm run bench:bodies [-- --seconds N] [case...]
// How long large bodies keep other clients waiting: five bodies of 27 MB and twenty of 3 MB at the same time, again and again,
// while another tenant asks 100 small questions a second and reads 20 streams with an event each 50 ms. Prints their waits
// alone and beside the large bodies, and the longest turn of the gateway's event loop. DATABASE_URL names a Postgres server; without
// it, it starts one.
import { parseArgs } from 'node:util'
import { serverArgs, startTollgate, type TollgateProcess } from '../test/support/tollgate.ts'
import type { BodyResult, BodyTask } from './body-load.ts'
import type { LoadResult, Task } from './load.ts'
import { type Peer, startPeer, startServer } from './peer.ts'
import { peakResidentMb, processCpuUs } from './process-cpu.ts'
import { chosenOf } from './table.ts'
import { helpIfAsked } from './usage.ts'
import { openUsageLog } from './usage-log.ts'

helpIfAsked(import.meta.filename)

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '6' } },
})
const seconds = Number(values.seconds)

interface Case extends Pick<BodyTask, 'path' | 'model' | 'content'> {
  name: string
  capture: 'content' | 'none'
}

const passed = [
  { name: 'chat', path: '/v1/chat/completions', model: 'chat' },
  { name: 'messages', path: '/v1/messages', model: 'messages' },
  { name: 'chat-to-messages', path: '/v1/chat/completions', model: 'messages' },
  { name: 'messages-to-chat', path: '/v1/messages', model: 'chat' },
  { name: 'responses-to-messages', path: '/v1/responses', model: 'messages' },
] as const
const cases: readonly Case[] = passed.flatMap((way) =>
  (['image', 'text'] as const).flatMap((content) =>
    (['content', 'none'] as const).map((capture) => ({
      ...way,
      name: `${way.name}-${content}-${capture}`,
      content,
      capture,
    })),
  ),
)

const keyOf = (capture: Case['capture'], size: string) => `bench-key-${size}-${capture}`
const smallKey = 'bench-key-of-the-neighbour'

const usageLog = await openUsageLog(process.env.DATABASE_URL)
const upstream = await startServer('mock-upstream.ts')
const bodyUpstream = await startServer('body-upstream.ts')
const small = startPeer<unknown>('load.ts')
const streams = startPeer<unknown>('load.ts')
const bodies = startPeer<unknown>('body-load.ts')
const tollgate = await startTollgate({
  databaseUrl: usageLog.url,
  gatewayYaml: JSON.stringify(gatewayFile(upstream.port, bodyUpstream.port)),
  nodeArgs: [...serverArgs, '--import', new URL('./loop-probe.ts', import.meta.url).href],
  env: { NODE_ENV: 'production', BODIES_BYTES_MAX: String(2 ** 30), ...ownBounds() },
})
try {
  await Promise.all([small.receive(), streams.receive(), bodies.receive()])
  await neighbours()
  console.log(
    'waits in ms, p50/p99/longest; loop: the longest turn of the event loop, and its processor time',
  )
  print('alone', await neighbours(), undefined)
  for (const one of chosenOf(cases, positionals)) {
    const sending = ask<BodyResult>(bodies, bodyTask(one))
    print(one.name, await neighbours(), await sending)
  }
  print('alone again', await neighbours(), undefined)
  console.log(`peak memory of the gateway: ${peakResidentMb(tollgate.pid).toFixed(0)} MB`)
} finally {
  await Promise.all([small.stop(), streams.stop(), bodies.stop()])
  await tollgate.stop()
  await Promise.all([upstream.stop(), bodyUpstream.stop()])
  await usageLog.close()
}

interface Neighbours {
  asked: LoadResult
  streamed: LoadResult
  loopMs: string
  cpuMs: number
}

async function neighbours(): Promise<Neighbours> {
  await loopGap(tollgate)
  const cpuUs = processCpuUs(tollgate.pid)
  const task = { origin: tollgate.url, keys: [smallKey], protocol: 'openai-chat', bodyBytes: 900 } as const
  const windowMs = seconds * 1000
  const [asked, streamed] = await Promise.all([
    load(small, {
      ...task,
      model: 'json',
      drive: { kind: 'rate', perSecond: 100, durationMs: windowMs + 1000 },
    }),
    load(streams, {
      ...task,
      model: `paced-${(windowMs + 2000) / 50}x50`,
      drive: { kind: 'hold', streams: 20, openMs: 200, windowMs },
    }),
  ])
  return {
    asked,
    streamed,
    loopMs: await loopGap(tollgate),
    cpuMs: (processCpuUs(tollgate.pid) - cpuUs) / 1000,
  }
}

async function load(peer: Peer<unknown>, task: Task): Promise<LoadResult> {
  peer.send(task)
  await peer.receive()
  await peer.receive()
  return (await peer.receive()) as LoadResult
}

async function ask<Result>(peer: Peer<unknown>, task: object): Promise<Result> {
  peer.send(task)
  return (await peer.receive()) as Result
}

function bodyTask({ path, model, content, capture }: Case): BodyTask {
  return {
    origin: tollgate.url,
    path,
    model,
    content,
    durationMs: seconds * 1000,
    bodies: [
      { key: keyOf(capture, 'large'), bytes: 27_000_000, many: 5 },
      { key: keyOf(capture, 'medium'), bytes: 3_000_000, many: 20 },
    ],
  }
}

async function loopGap(gateway: TollgateProcess): Promise<string> {
  const before = gapsIn(gateway).length
  gateway.child.kill('SIGUSR2')
  while (gapsIn(gateway).length === before) await new Promise((resolve) => setTimeout(resolve, 5))
  return gapsIn(gateway).at(-1)?.[1] ?? ''
}

function gapsIn(gateway: TollgateProcess) {
  return [...gateway.stderr().matchAll(/loop-gap (\S+ \S+)\n/g)]
}

function print(
  name: string,
  { asked, streamed, loopMs, cpuMs }: Neighbours,
  large: BodyResult | undefined,
): void {
  const ms = (...us: number[]) => us.map((one) => (one / 1000).toFixed(1)).join('/')
  const sent = large === undefined ? '' : `  ${large.sent} large bodies`
  console.log(
    `${name.padEnd(36)} small ${ms(asked.latencyP50Us, asked.latencyP99Us, asked.latencyMaxUs)}  ` +
      `events ${ms(streamed.eventP50Us, streamed.eventP99Us, streamed.eventMaxUs)}  loop ${loopMs}  cpu ${cpuMs.toFixed(0)}${sent}`,
  )
  for (const fault of [asked.errors, streamed.errors, large?.refused ?? {}])
    for (const [text, count] of Object.entries(fault)) console.log(`  ${count} x ${text}`)
}

/** Bounds of the gateway from this process's environment, such as BODY_THREAD_BYTES, to compare values. */
function ownBounds(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      name.startsWith('BODY_') && value !== undefined ? [[name, value]] : [],
    ),
  )
}

function gatewayFile(upstreamPort: number, bodyPort: number): object {
  const chat = { 'openai-chat': `http://127.0.0.1:${bodyPort}/v1` }
  const messages = { 'anthropic-messages': `http://127.0.0.1:${bodyPort}` }
  const common = { api_keys: ['upstream-secret'], allow_private_address: true, concurrency: 1000 }
  const captures = ['content', 'none'] as const
  return {
    models: [{ id: 'chat' }, { id: 'messages' }, { id: '*' }],
    channels: [
      { ...common, name: 'chat', protocols: chat, models: ['chat'] },
      { ...common, name: 'messages', protocols: messages, models: ['messages'] },
      {
        ...common,
        name: 'small',
        protocols: { 'openai-chat': `http://127.0.0.1:${upstreamPort}/v1` },
        models: '*',
      },
    ],
    groups: [{ name: 'bench', models: ['*'], channels: ['*'] }],
    tenants: [
      { name: 'neighbour', keys: [{ name: 'small', group: 'bench', secret: smallKey }] },
      ...captures.map((capture) => ({
        name: capture,
        keys: ['large', 'medium'].map((size) => ({
          name: size,
          group: 'bench',
          secret: keyOf(capture, size),
          capture,
        })),
      })),
    ],
  }
}
