import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { ownPort } from './own-port.ts'
import { until } from './until.ts'

/** A Redis for one test, on a port of its own. It keeps its data over `kill9` and `restart`. */
export interface RedisServer {
  url: string
  /** The process that runs now. */
  readonly pid: number
  /** End it and remove its data. */
  stop(): Promise<void>
  kill9(): Promise<void>
  /** SIGSTOP: connections stay open and nothing answers. */
  pause(): void
  resume(): void
  /** Resolves when it answers. */
  restart(): Promise<void>
  /** Let it lose all data. */
  flush(): Promise<void>
}

/** Throws the output of redis-server when that does not start. `settings` count before those of the test. */
export async function startRedis(
  options: { password?: string; settings?: readonly string[] } = {},
): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-redis-'))
  const port = await ownPort()
  const login = options.password === undefined ? '' : `:${options.password}@`
  const url = `redis://${login}127.0.0.1:${port}`
  const auth = options.password === undefined ? [] : ['--requirepass', options.password]
  // With fewer syncs a write may still be in memory when the process is killed.
  const bounds = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction']
  const start = async () => {
    const child = spawn(
      'redis-server',
      [
        '--bind',
        '127.0.0.1',
        '--port',
        String(port),
        '--dir',
        directory,
        '--save',
        '',
        ...bounds,
        ...auth,
        ...(options.settings ?? []),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    await answers(child, url)
    return child
  }
  let child = await start()
  const kill9 = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((done) => child.once('exit', done))
    child.kill('SIGKILL')
    await ended
  }
  return {
    url,
    get pid() {
      return child.pid ?? 0
    },
    async stop() {
      await kill9()
      rmSync(directory, { recursive: true, force: true })
    },
    kill9,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async restart() {
      await kill9()
      child = await start()
    },
    flush: () => ask(url, (redis) => redis.flushall()),
  }
}

async function answers(child: ChildProcess, url: string): Promise<void> {
  let output = ''
  child.stdout?.on('data', (text) => {
    output = `${output}${text}`.slice(-2_000)
  })
  let failed: string | undefined
  child.on('error', (error) => {
    failed = `${error.message}; to get it: apt-get install redis-server`
  })
  await until(async () => {
    if (failed === undefined && child.exitCode !== null) failed = output
    if (failed !== undefined) throw new Error(`redis-server does not run: ${failed}`)
    return await ask(url, (redis) => redis.ping()).then(
      () => true,
      () => false,
    )
  })
}

async function ask(url: string, question: (redis: Redis) => Promise<unknown>): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 })
  redis.on('error', () => {})
  try {
    await redis.connect()
    await question(redis)
  } finally {
    redis.disconnect()
  }
}
