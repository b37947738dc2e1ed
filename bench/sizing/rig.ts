import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { clientSettings } from '../../src/db/connections.ts'
import { type RedisServer, startRedis } from '../../test/support/redis.ts'
import { startTollgate } from '../../test/support/tollgate.ts'
import type { LoadResult, Task } from '../load.ts'
import { type Peer, type ServerPeer, startPeer, startServer } from '../peer.ts'
import { mainThreadCpuUs, peakResidentMb, processCpuUs } from '../process-cpu.ts'
import { startReference, subjectFile } from '../subjects.ts'
import { openUsageLog, type UsageLog } from '../usage-log.ts'

/** What surrounds the measured gateways: a load driver and a mock upstream, each in a process of its own. */
export interface Rig {
  load: Peer<unknown>
  upstream: ServerPeer
  stop(): Promise<void>
}

export async function startRig(): Promise<Rig> {
  const load = startPeer<unknown>('load.ts')
  const upstream = await startServer('mock-upstream.ts')
  await load.receive()
  return { load, upstream, stop: async () => void (await Promise.all([upstream.stop(), load.stop()])) }
}

/** CPU time in microseconds, and bytes of write-ahead log. */
export interface Costs {
  /** The threads with the event loops that serve requests. One of them is the bound of a process. */
  mainUs: number
  /** All other threads of the gateways: shipper, garbage collection, supervisor. */
  othersUs: number
  postgresUs: number
  /** 0 without Redis. */
  redisUs: number
  walBytes: number
}

/** What can be loaded and measured. */
export interface Measurable {
  origin: string
  keys: readonly string[]
  costs(): Promise<Costs>
}

export interface Deployment extends Measurable {
  sql: postgres.Sql
  /** Milliseconds from the start of the program to its readiness. */
  readyMs: number
  /** Highest so far, of all its processes together. */
  residentMb(): number
  stop(): Promise<void>
}

export interface DeploymentOptions {
  processes?: number
  hasRedis?: boolean
  /** Tenants, each with one key. Default 1. */
  tenants?: number
  /** Whether their money is limited. */
  limited?: boolean
  /** The database to use; undefined: a new one. `prepare` runs before the gateway starts. */
  usageLog?: UsageLog
  prepare?(sql: postgres.Sql): Promise<void>
}

/** Gateways in production settings with everything on: keys, limits, usage log with bodies, Postgres. */
export async function startDeployment(rig: Rig, options: DeploymentOptions = {}): Promise<Deployment> {
  const { processes = 1, hasRedis = false, tenants = 1, limited = false } = options
  const ends: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  try {
    const usageLog =
      options.usageLog ?? (await openUsageLog(process.env.DATABASE_URL, { max_connections: '1000' }))
    if (options.usageLog === undefined) ends.push(() => usageLog.close())
    const sql = postgres(usageLog.url, clientSettings({ max: 1 }))
    ends.push(() => sql.end())
    const redis: RedisServer | undefined = hasRedis ? await startRedis() : undefined
    if (redis !== undefined) ends.push(() => redis.stop())
    await options.prepare?.(sql)
    const keys = Array.from({ length: tenants }, (_, index) => `bench-key-of-tenant-${index + 1}`)
    const began = performance.now()
    const gateway = await startTollgate({
      databaseUrl: usageLog.url,
      gatewayYaml: gatewayFile(rig.upstream.port, keys, limited),
      env: {
        NODE_ENV: 'production',
        PROCESSES: String(processes),
        ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
      },
    })
    const readyMs = performance.now() - began
    ends.push(async () => {
      const code = await gateway.stop()
      if (code !== 0) throw new Error(`Tollgate ended with ${code}.\n${gateway.stderr().slice(-4000)}`)
    })
    const pids = () => (processes === 1 ? [gateway.pid] : [gateway.pid, ...gateway.members()])
    return {
      origin: gateway.url,
      keys,
      sql,
      readyMs,
      residentMb: () => sum(pids().map(peakResidentMb)),
      stop,
      async costs() {
        const serving = processes === 1 ? pids() : pids().slice(1)
        const mainUs = sum(serving.map(mainThreadCpuUs))
        const [wal] = await sql<{ bytes: number }[]>`
          select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`
        return {
          mainUs,
          othersUs: sum(pids().map(processCpuUs)) - mainUs,
          postgresUs: usageLog.cpuUs(),
          redisUs: redis === undefined ? 0 : processCpuUs(redis.pid),
          walBytes: wal?.bytes ?? Number.NaN,
        }
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** A bare proxy, which checks a key and forwards bytes: what Node and the kernel ask for by themselves. */
export async function startBareProxy(rig: Rig): Promise<Measurable & { stop(): Promise<void> }> {
  const { pid, origin, keys, stop } = await startReference(rig.upstream.port)
  return {
    origin,
    keys: [keys.unlimited],
    stop,
    costs: async () => {
      const mainUs = mainThreadCpuUs(pid)
      return { mainUs, othersUs: processCpuUs(pid) - mainUs, postgresUs: 0, redisUs: 0, walBytes: 0 }
    },
  }
}

export interface Measured extends Costs {
  load: LoadResult
}

/** Rows are shipped each half second. The window stays open until those of the last calls are there. */
const settleMs = 1_500

/** One load, measured. Throws when an answer was wrong. Costs are those of one call; of one event for held streams. */
export async function measureLoad(
  rig: Rig,
  subject: Measurable,
  task: Omit<Task, 'origin' | 'keys'>,
): Promise<Measured> {
  rig.load.send({ ...task, origin: subject.origin, keys: subject.keys } satisfies Task)
  await rig.load.receive()
  const before = await subject.costs()
  await rig.load.receive()
  if (task.drive.kind !== 'hold') await sleep(settleMs)
  const after = await subject.costs()
  const load = (await rig.load.receive()) as LoadResult
  const errors = Object.entries(load.errors)
  if (errors.length > 0) throw new Error(`Wrong answers: ${JSON.stringify(errors.slice(0, 3))}`)
  const count = task.drive.kind === 'hold' ? load.windowEvents : load.windowCalls
  return { ...costsOfOne(before, after, count), load }
}

/** What the deployment costs in one second without any request. */
export async function measureIdle(deployment: Measurable, durationMs: number): Promise<Costs> {
  const before = await deployment.costs()
  await sleep(durationMs)
  const after = await deployment.costs()
  return costsOfOne(before, after, durationMs / 1_000)
}

function costsOfOne(before: Costs, after: Costs, count: number): Costs {
  const each = (of: keyof Costs) => (after[of] - before[of]) / count
  return {
    mainUs: each('mainUs'),
    othersUs: each('othersUs'),
    postgresUs: each('postgresUs'),
    redisUs: each('redisUs'),
    walBytes: each('walBytes'),
  }
}

export const small = { protocol: 'openai-chat', model: 'json', bodyBytes: 900 } as const

/** Calls at fixed times, as many clients make them. */
export function rate(perSecond: number): Task['drive'] {
  return { kind: 'rate', perSecond, durationMs: windowMs }
}

export const windowMs = Number(process.env.BENCH_MS ?? 20_000)
const warmUpMs = 4_000

/** The code of a new process is compiled after some thousands of requests, and each key is looked up once. */
export async function warmUp(
  rig: Rig,
  subject: Measurable,
  task: Omit<Task, 'origin' | 'keys' | 'drive'> = small,
) {
  await measureLoad(rig, subject, {
    ...task,
    drive: { kind: 'closed', inFlight: 16, durationMs: warmUpMs + 2 * subject.keys.length },
  })
}

function gatewayFile(upstreamPort: number, keys: readonly string[], limited: boolean): string {
  const models = { json: 'json', 'paced-60x100': 'paced-60x100', 'burst-8': 'renamed-burst-8' }
  const tenants = keys.map((secret, index) => ({
    name: `tenant-${index + 1}`,
    ...(limited && { balance_usd: '1000000.00' }),
    keys: [{ name: 'bench', group: 'bench', secret }],
  }))
  return subjectFile(upstreamPort, models, tenants)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
