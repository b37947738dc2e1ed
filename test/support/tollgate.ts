import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Reached } from './bed.ts'
import { repository } from './former-release.ts'
import { onHost } from './on-host.ts'
import { until } from './until.ts'

/** A real Tollgate in a process of its own. */
export interface TollgateProcess extends Reached {
  pid: number
  child: ChildProcess
  /** Pids of the serving processes, if PROCESSES asks for several. */
  members(): number[]
  /** Resolves with the exit code when the process ends; null when a signal ended it. */
  exited: Promise<number | null>
  /** Send SIGTERM and answer `exited`. Rejects when the process still runs after 60 s. */
  stop(): Promise<number | null>
  /** Send SIGKILL and wait for the end of the process. */
  kill9(): Promise<void>
}

export interface TollgateOptions {
  /** Undefined: Tollgate starts its embedded Postgres below `dataDir`. */
  databaseUrl?: string
  /** Undefined: it starts without one. */
  gatewayYaml: string | undefined
  /** Of the test's own environment the process gets only PATH, HOME and TMPDIR. */
  env?: Record<string, string>
  /** Default: a new temporary directory. */
  dataDir?: string
  /** A host name of its own, as a container has it. Needs Linux, and root or user namespaces. */
  host?: string
  /** A checkout of the program. Default: this one. */
  directory?: string
  /** Node's program. Default: that of this process. */
  node?: string
  /** Arguments for Node. Default: `serverArgs`, with which the server need not start itself again. */
  nodeArgs?: string[]
}

/** `src/server.ts` starts itself again with these arguments, and with NODE_COMPILE_CACHE, unless it has them. */
export const serverArgs = ['--max-semi-space-size=4', '--no-parallel-scavenge']

/** Wait until the process is ready, by `GET /readyz` or its output. Rejects when it exits, and after 60 s. */
export async function startTollgate(options: TollgateOptions): Promise<TollgateProcess> {
  const home = temporaryDirectory()
  const dataDir = options.dataDir ?? join(home, 'data')
  const gatewayConfig = join(home, 'gateway.yaml')
  if (options.gatewayYaml !== undefined) writeFileSync(gatewayConfig, options.gatewayYaml)
  const [program = '', ...args] = [
    ...(options.host === undefined ? [] : onHost(options.host)),
    options.node ?? process.execPath,
    ...(options.nodeArgs ?? serverArgs),
    'src/server.ts',
  ]
  const child = spawn(program, args, {
    cwd: options.directory ?? repository,
    env: environment({ ...options, dataDir, gatewayConfig }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  void exited.then(() => running.delete(child))

  const url = await readyUrl(child, output)
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid ?? 0,
    child,
    members: () => childrenOf(child.pid).filter((pid) => commandOf(pid).includes('--supervised')),
    dataDir,
    exited,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async stop() {
      child.kill('SIGTERM')
      const late = new AbortController()
      const tooLate = delay(60_000, undefined, { signal: late.signal }).then(() => {
        throw new Error(`Tollgate did not stop within 60 s of SIGTERM.\n${tail(output)}`)
      })
      return await Promise.race([exited, tooLate]).finally(() => late.abort())
    },
    async kill9() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

const running = new Set<ChildProcess>()
const directories = new Set<string>()

process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  directories.add(directory)
  return directory
}

function environment(
  options: TollgateOptions & { dataDir: string; gatewayConfig: string },
): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  return {
    PATH,
    HOME,
    ...(TMPDIR && { TMPDIR }),
    ...(options.nodeArgs === undefined && {
      NODE_COMPILE_CACHE: join(repository, 'node_modules/.cache/tollgate'),
      NODE_COMPILE_CACHE_PORTABLE: '1',
    }),
    PORT: '0',
    DATA_DIR: options.dataDir,
    ...(options.gatewayYaml !== undefined && { GATEWAY_CONFIG: options.gatewayConfig }),
    ...(options.databaseUrl && { DATABASE_URL: options.databaseUrl }),
    SECRET_KEY: 'a-secret-key-for-tests-and-nothing-else',
    // Upstreams of tests count what they are asked.
    MODEL_LIST_REFRESH_MS: '0',
    // Sign-ins are work on purpose.
    SIGN_IN_HASH_COST: '10',
    // With pages, each start would look whether they must be built.
    PAGES: 'none',
    // Upstreams of tests are on this machine.
    PRIVATE_ADDRESSES: '127.0.0.0/8',
    ...options.env,
  }
}

/** The process chooses its port and prints the base URL. A worker has no port and prints that it works. */
async function readyUrl(child: ChildProcess, output: { stdout: string; stderr: string }): Promise<string> {
  const ready = async () => {
    if (output.stdout.includes('The Tollgate worker is running.')) return 'http://127.0.0.1:0'
    const url = /base URL:\s*(http:\/\/\S+?)\/v1/i.exec(output.stdout)?.[1]
    if (url && (await isReady(url))) return url
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the process has ended')
    return undefined
  }
  return await until(ready, 60_000).catch((error) => {
    child.kill('SIGKILL')
    throw new Error(`Tollgate did not become ready.\n${tail(output)}`, { cause: error })
  })
}

function childrenOf(pid = 0): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
}

/** The command line of a process, with spaces between the arguments. Empty when there is no such process. */
export function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`)
    await answer.arrayBuffer()
    return answer.status === 200
  } catch {
    return false
  }
}

function tail(output: { stdout: string; stderr: string }): string {
  return `stdout: ${output.stdout.slice(-4000)}\nstderr: ${output.stderr.slice(-4000)}`
}
