import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { onTestFinished } from 'vitest'
import { findPostmaster } from '../../src/db/postmaster.ts'
import { until } from './until.ts'

/** A process that has an embedded Postgres. A test starts it; it is killed when the test ends. */
export interface Owner {
  pid: number
  url: string
  /** How long startEmbedded took. */
  startMs: number
  logs: string[]
  stop(): Promise<void>
  kill(): Promise<void>
}

export interface OwnerOptions {
  /** Default: this repository's src/db/embedded.ts. */
  program?: string
  node?: string
  script?: string
  user?: { uid: number; gid: number }
}

/** Throws the message of startEmbedded when that fails. */
export async function startOwner(dataDir: string, options: OwnerOptions = {}): Promise<Owner> {
  const script = options.script ?? fileURLToPath(new URL('embedded-process.ts', import.meta.url))
  const args = [script, dataDir, ...(options.program ? [options.program] : [])]
  const child = spawn(options.node ?? process.execPath, args, {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
    ...options.user,
  })
  const exited = new Promise<void>((done) => child.on('exit', () => done()))
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  const logs: string[] = []
  const lines = createInterface(child.stdout)
  const { url, startMs } = await new Promise<{ url: string; startMs: number }>((ready, fail) => {
    lines.on('line', (line) => {
      const message = JSON.parse(line)
      if (message.log) logs.push(message.log)
      if (message.failed) fail(new Error(message.failed))
      if (message.url) ready(message)
    })
    child.on('error', fail)
    child.on('exit', () => fail(new Error('the process ended before Postgres answered')))
  })
  return {
    pid: child.pid ?? 0,
    url,
    startMs,
    logs,
    kill,
    async stop() {
      child.stdin.end()
      await exited
    },
  }
}

/**
 * A directory for one test, removed when the test ends. Where Postgres may not enter it, its cluster is outside; that
 * is removed too.
 */
export function temporaryDirectory(mode: 0o700 | 0o711 = 0o711): string {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-embedded-'))
  chmodSync(path, mode)
  onTestFinished(async () => {
    const dataDir = join(path, 'data')
    const cluster = clusterOf(dataDir)
    // When its owner was killed, Postgres still writes until it has ended too.
    await until(() => findPostmaster(cluster) === undefined)
    if (cluster && !cluster.startsWith(path)) rmSync(dirname(cluster), { recursive: true, force: true })
    rmSync(path, { recursive: true, force: true })
  })
  return path
}

/** Where the cluster of a data directory is. */
export function clusterOf(dataDir: string): string {
  try {
    return resolve(dataDir, JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')).cluster)
  } catch {
    return ''
  }
}

/** The process id of the running Postgres. */
export function postmasterOf(dataDir: string): number {
  return Number(readFileSync(join(clusterOf(dataDir), 'postmaster.pid'), 'utf8').split('\n')[0])
}

/** The processes of this Postgres. */
export function processesOf(postmaster: number): number[] {
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
  return [postmaster, ...children.trim().split(' ').filter(Boolean).map(Number)]
}

/** Those that have ended by themselves meanwhile get no signal. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
}

/** Kill a Postgres at once, with its owner. `startOwner` with the same directory starts it again. */
export async function killPostgres(owner: Owner, dataDir: string): Promise<void> {
  const postmaster = postmasterOf(dataDir)
  // Stopped, because the owner would start Postgres again at once.
  process.kill(owner.pid, 'SIGSTOP')
  // Killed too, because its backends would go on answering for a moment.
  signalAll(processesOf(postmaster), 'SIGKILL')
  await owner.kill()
  await until(() => findPostmaster(clusterOf(dataDir)) === undefined)
}

/** Run one statement on a connection of its own. Try again until Postgres answers. */
export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  let failure: unknown
  const answered = async () => {
    try {
      return await queryOnce(url, statement)
    } catch (error) {
      failure = error
      return undefined
    }
  }
  return await until(answered).catch(() => {
    throw failure
  })
}

async function queryOnce(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => {} })
  try {
    return [...(await sql.unsafe(statement))]
  } finally {
    await sql.end({ timeout: 1 })
  }
}
