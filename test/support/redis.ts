import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { inContainers, startContained } from './in-containers.ts'
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

/** What `startRedis` does to a redis-server, wherever it runs. */
interface Server {
  port: number
  pid(): number
  kill9(): Promise<void>
  /** After `kill9`. */
  start(): Promise<void>
  pause(): void
  resume(): void
  remove(): void
}

/** Throws the output of redis-server when that does not start. `settings` count before those of the test. */
export async function startRedis(
  options: { password?: string; settings?: readonly string[] } = {},
): Promise<RedisServer> {
  const auth = options.password === undefined ? [] : ['--requirepass', options.password]
  // With fewer syncs a write may still be in memory when the process is killed.
  const bounds = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction']
  const words = ['--save', '', ...bounds, ...auth, ...(options.settings ?? [])]
  const login = options.password === undefined ? '' : `:${options.password}@`
  const urlOf = (port: number) => `redis://${login}127.0.0.1:${port}`
  const server = await (inContainers ? contained(words, urlOf) : local(words, urlOf))
  const url = urlOf(server.port)
  return {
    url,
    get pid() {
      return server.pid()
    },
    async stop() {
      await server.kill9()
      server.remove()
    },
    kill9: server.kill9,
    pause: server.pause,
    resume: server.resume,
    async restart() {
      await server.kill9()
      await server.start()
    },
    flush: () => ask(url, (redis) => redis.flushall()),
  }
}

async function local(words: readonly string[], urlOf: (port: number) => string): Promise<Server> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-redis-'))
  const port = await ownPort()
  const place = ['--bind', '127.0.0.1', '--port', String(port), '--dir', directory]
  const start = async () => {
    const child = spawn('redis-server', [...place, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
    await answers(child, urlOf(port))
    return child
  }
  let child = await start()
  return {
    port,
    pid: () => child.pid ?? 0,
    async kill9() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((done) => child.once('exit', done))
      child.kill('SIGKILL')
      await ended
    },
    async start() {
      child = await start()
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

async function contained(words: readonly string[], urlOf: (port: number) => string): Promise<Server> {
  const server = await startContained({
    image: 'redis:7',
    command: ['redis-server', ...words],
    port: 6379,
    ready: /Ready to accept connections/,
    count: 1,
  })
  const { port, pid, pause, resume, remove } = server
  let isRunning = true
  return {
    ...{ port, pid, pause, resume, remove },
    async kill9() {
      if (isRunning) server.kill9()
      isRunning = false
    },
    async start() {
      server.start()
      isRunning = true
      await until(() =>
        ask(urlOf(port), (redis) => redis.ping()).then(
          () => true,
          () => false,
        ),
      )
    },
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
