import postgres from 'postgres'
import { startRedis } from '../test/support/redis.ts'
import { startTollgate } from '../test/support/tollgate.ts'
import { startServer } from './peer.ts'
import { processCpuUs } from './process-cpu.ts'
import { startTemporary } from './temporary-postgres.ts'
import { openUsageLog } from './usage-log.ts'

export interface ImageRigOptions {
  backend: 'postgres' | 'redis'
  workers: number
  tenants: number
  /** Undefined: Tollgate's default. */
  queueWindow: number | undefined
  /** Have Postgres count the cost of each statement. Counting costs time too. */
  countStatements: boolean
}

/** Tollgate for image jobs: one new API process, with workers, Postgres, and Redis if the queue is on it. */
export interface ImageRig {
  origin: string
  /** One key for each tenant. The money of all tenants is limited. */
  keys: string[]
  sql: postgres.Sql
  postgresVersion: string
  /** CPU time so far; NaN for Redis if there is none. */
  cpuUs(): ImageCpu
  /** Upstream calls since the last call of this function. */
  upstreamCalls(): Promise<number>
  /** Never rejects. Resolves with the problems of processes that ended wrongly. */
  stop(): Promise<string[]>
}

export type ImageCpu = Record<'api' | 'workers' | 'postgres' | 'redis', number>

export const imageConcurrency = 8

export async function startImageRig(options: ImageRigOptions): Promise<ImageRig> {
  const ends: (() => Promise<unknown>)[] = []
  const stop = async () => {
    const problems: unknown[] = []
    for (const end of ends.splice(0).reverse()) await end().catch((error: unknown) => problems.push(error))
    return problems.map((problem) => (problem instanceof Error ? problem.message : String(problem)))
  }
  try {
    const usageLog = await openDatabase(options, ends)
    const redis = options.backend === 'redis' ? await startRedis() : undefined
    if (redis !== undefined) ends.push(() => redis.stop())
    const upstream = await startServer('image-upstream.ts')
    ends.push(() => upstream.stop())
    const keys = Array.from({ length: options.tenants }, (_, index) => `bench-key-of-tenant-${index + 1}`)
    const gatewayYaml = gatewayFile(upstream.port, keys)
    const env = {
      NODE_ENV: 'production',
      IMAGE_CONCURRENCY: String(imageConcurrency),
      ...(options.queueWindow === undefined ? {} : { IMAGE_QUEUE_WINDOW: String(options.queueWindow) }),
      ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
    }
    const start = async (role: string, dataDir?: string) => {
      const started = await startTollgate({
        databaseUrl: usageLog.url,
        gatewayYaml,
        env: { ...env, ROLE: role },
        ...(dataDir === undefined ? {} : { dataDir }),
      })
      ends.push(async () => {
        const code = await started.stop()
        if (code !== 0) throw new Error(`The ${role} ended with ${code}.\n${started.stderr().slice(-4000)}`)
      })
      return started
    }
    const api = await start('api')
    const workers = await Promise.all(
      Array.from({ length: options.workers }, () => start('worker', api.dataDir)),
    )
    return {
      origin: api.url,
      keys,
      sql: usageLog.sql,
      postgresVersion: usageLog.version,
      cpuUs: () => ({
        api: processCpuUs(api.pid),
        workers: workers.reduce((sum, { pid }) => sum + processCpuUs(pid), 0),
        postgres: usageLog.cpuUs(),
        redis: redis === undefined ? Number.NaN : processCpuUs(redis.pid),
      }),
      upstreamCalls: () => upstream.requests(),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function openDatabase({ countStatements }: ImageRigOptions, ends: (() => Promise<unknown>)[]) {
  const temporary = await startTemporary({
    settings: countStatements
      ? {
          shared_preload_libraries: 'pg_stat_statements',
          'pg_stat_statements.track': 'all',
          'pg_stat_statements.track_planning': 'on',
        }
      : {},
  })
  ends.push(() => temporary.stop())
  const usageLog = await openUsageLog(temporary.url)
  ends.push(() => usageLog.close())
  const sql = postgres(usageLog.url, { max: 1, onnotice: () => {} })
  ends.push(() => sql.end())
  if (countStatements) await sql`CREATE EXTENSION pg_stat_statements`
  return { ...usageLog, sql }
}

/** The models `draw-0` and `draw-200`, named for the upstream's delay in ms. Tollgate holds and charges their price. */
function gatewayFile(upstreamPort: number, keys: readonly string[]): string {
  const models = ['draw-0', 'draw-200']
  return JSON.stringify({
    models: models.map((id) => ({ id, price: { image: '0.04' }, images: {} })),
    channels: [
      {
        name: 'mock',
        protocols: { 'openai-images': `http://127.0.0.1:${upstreamPort}/v1` },
        api_keys: ['upstream-secret'],
        models,
        allow_private_address: true,
      },
    ],
    groups: [{ name: 'bench', models: ['*'], channels: ['*'] }],
    tenants: keys.map((secret, index) => ({
      name: `tenant-${index + 1}`,
      balance_usd: '1000000.00',
      keys: [{ name: 'bench', group: 'bench', secret }],
    })),
  })
}
