import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createPostgresBackend, Queue } from 'bullmq'
import { onTestFinished } from 'vitest'
import { openQueues, type QueueOptions } from '../../src/jobs/queue/open.ts'
import { prepareQueueSchema } from '../../src/jobs/queue/postgres.ts'
import type { Queues, WorkOptions } from '../../src/jobs/queue/queue.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import {
  killPostgres,
  postmasterOf,
  processesOf,
  signalAll,
  startOwner,
  temporaryDirectory,
} from '../support/embedded.ts'
import { startRedis } from '../support/redis.ts'

export type Where = Pick<QueueOptions, 'redisUrl' | 'databaseUrl'>

/** A place for queues. Stop it in the end. */
export interface Place {
  where: Where
  /** Empties the queues. */
  empty(): Promise<void>
  stop(): Promise<void>
}

export async function openPlace(backend: 'postgres' | 'redis'): Promise<Place> {
  if (backend === 'redis') {
    const redis = await startRedis()
    const where = { redisUrl: redis.url, databaseUrl: 'postgres://nobody@127.0.0.1:1/none' }
    return { where, empty: redis.flush, stop: redis.stop }
  }
  const { url, drop } = await freshDatabase()
  await prepareQueueSchema(url)
  return { where: { redisUrl: undefined, databaseUrl: url }, empty: () => emptyQueueTables(url), stop: drop }
}

/** A new place for one test. */
export async function freshBackend(backend: 'postgres' | 'redis'): Promise<Where> {
  const { where, stop } = await openPlace(backend)
  onTestFinished(stop)
  return where
}

/** Keeps the rows that BullMQ needs to continue. */
async function emptyQueueTables(url: string): Promise<void> {
  const { sql, close } = openDatabase(url, { max: 1 })
  const tables = await sql<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'bullmq' AND table_type = 'BASE TABLE' AND table_name <> 'migration'`
  for (const { name } of tables) await sql`DELETE FROM bullmq.${sql(name)}`
  await close()
}

export const commandMs = 1_000
/** Of workers that a test kills. */
export const lockMs = 1_000
/** Of all others: none counts as dead because the machine froze for some seconds. */
const patientLockMs = 10_000

/** A backend that a test can stop. */
export interface Outage {
  where: Where
  /** Resolves when the backend has ended. */
  kill9(): Promise<void>
  /** Resolves when it answers again. */
  restart(): Promise<void>
  /** Connections stay open and nothing answers. */
  freeze(): void
  thaw(): void
}

export async function breakableBackend(backend: 'postgres' | 'redis'): Promise<Outage> {
  if (backend === 'redis') {
    const redis = await startRedis()
    onTestFinished(redis.stop)
    const where = { redisUrl: redis.url, databaseUrl: 'postgres://nobody@127.0.0.1:1/none' }
    return { where, kill9: redis.kill9, restart: redis.restart, freeze: redis.pause, thaw: redis.resume }
  }
  const directory = temporaryDirectory()
  const dataDir = join(directory, 'data')
  let owner = await startOwner(dataDir)
  const { url } = owner
  await prepareQueueSchema(url)
  let frozen: number[] = []
  const thaw = () => {
    signalAll(frozen, 'SIGCONT')
    frozen = []
  }
  onTestFinished(thaw)
  return {
    where: { redisUrl: undefined, databaseUrl: url },
    kill9: () => killPostgres(owner, dataDir),
    async restart() {
      owner = await startOwner(dataDir)
      if (owner.url !== url) throw new Error('Postgres is back on another port')
    },
    freeze() {
      const postmaster = postmasterOf(dataDir)
      // First, so that it starts no more processes.
      signalAll([postmaster], 'SIGSTOP')
      frozen = processesOf(postmaster)
      signalAll(frozen, 'SIGSTOP')
    },
    thaw,
  }
}

/** Put a job with this payload into the queue of images, as another program might. */
export async function addRaw(where: Where, payload: object): Promise<void> {
  const queue =
    where.redisUrl === undefined
      ? new Queue('tollgate-images', { connection: where.databaseUrl }, createPostgresBackend)
      : new Queue('tollgate-images', { connection: { url: where.redisUrl }, prefix: 'tollgate' })
  await queue.add('run', payload, { priority: 1, removeOnFail: true })
  await queue.close()
}

/** The queues as a process opens them. They close at the end of the test. */
export async function open(
  where: Where,
  more: Partial<QueueOptions> = {},
): Promise<Queues & { said: string[] }> {
  const said: string[] = []
  const log = relayLog((_level, _fields, message) => void said.push(message))
  const queues = await openQueues({ ...where, commandMs, lockMs: patientLockMs, log, ...more })
  onTestFinished(queues.close)
  return { ...queues, said }
}

/** Works on the queue of images until the test ends. `ran` gets the id of each job when its run ends. */
export function work(queues: Queues, options: Partial<WorkOptions> = {}) {
  const ran: string[] = []
  const logged: { message: string; fields: object }[] = []
  const run = options.run
  const worker = queues.work('images', {
    concurrency: 1,
    log: relayLog((_level, fields, message) => void logged.push({ message, fields })),
    ...options,
    async run(id) {
      const end = await run?.(id)
      ran.push(id)
      return end
    },
  })
  onTestFinished(worker.close)
  return { ran, logged, close: worker.close }
}

/** A worker in a process of its own. Resolves when it works. */
export async function startProcess(where: Where): Promise<{ began: string[]; kill9(): Promise<void> }> {
  const script = fileURLToPath(new URL('../support/queue-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script, JSON.stringify({ ...where, commandMs, lockMs })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise((done) => child.once('exit', done))
  const kill9 = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill9)
  const began: string[] = []
  await new Promise<void>((ready, fail) => {
    createInterface(child.stdout).on('line', (line) => {
      const message = JSON.parse(line)
      if (message.ready) ready()
      else began.push(message.began)
    })
    child.once('exit', () => fail(new Error('the worker process ended')))
  })
  return { began, kill9 }
}

/** A promise that holds a run, and the function that releases it. */
export function gate(): { open(): void; passed: Promise<void> } {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, passed }
}
