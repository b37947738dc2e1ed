import { execFileSync, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SystemUser } from './embedded-home.ts'

/** How to start the Postgres of a cluster. */
export interface Launch {
  /** The absolute path of the postgres binary. */
  binary: string
  cluster: string
  port: number
  /** Undefined: the user of this process. */
  user: SystemUser | undefined
  logFile: string
  settings: Record<string, string>
}

/**
 * A running Postgres. `leash` is the pipe that stops it when this process ends, if this process started it.
 */
export interface Postmaster {
  pid: number
  port: number
  leash: Socket | undefined
}

/** Postgres did not start. `retry` means that the cause is temporary. */
export class StartError extends Error {
  readonly retry: boolean
  constructor(message: string, retry: boolean) {
    super(message)
    this.retry = retry
  }
}

// Postgres runs in its own session, so a Ctrl-C in the terminal does not reach it. It still ends with its
// owner: fd 3 is a pipe that closes when the owner ends, even by SIGKILL.
const leashed = `
"$@" 3<&- &
postgres=$!
{ read -r _ <&3; kill -INT $postgres; } 2>/dev/null &
leash=$!
wait $postgres
status=$?
kill $leash 2>/dev/null
exit $status`

/** Starts Postgres and waits until it accepts connections, including crash recovery. Throws StartError. */
export async function startPostmaster(launch: Launch): Promise<Postmaster> {
  replaceDeadPid(launch.cluster)
  const log = openSync(launch.logFile, 'w', 0o600)
  const settings = {
    ...quiet,
    ...launch.settings,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(
    '/bin/sh',
    ['-c', leashed, 'sh', launch.binary, '-D', launch.cluster, '-p', String(launch.port), ...args],
    { cwd: '/', detached: true, env: { LC_ALL: 'C' }, stdio: ['ignore', log, log, 'pipe'], ...launch.user },
  )
  closeSync(log)
  let ended = false
  let failure = ''
  child.on('exit', () => {
    ended = true
  })
  child.on('error', (error) => {
    ended = true
    failure = error.message
  })
  const leash = child.stdio[3] instanceof Socket ? child.stdio[3] : undefined
  leash?.on('error', () => {})
  child.unref()
  leash?.unref()
  for (;;) {
    const running = findPostmaster(launch.cluster)
    if (running?.ready) return { pid: running.pid, port: running.port, leash }
    if (ended) break
    await sleep(10)
  }
  leash?.destroy()
  const said = failure || readFileSync(launch.logFile, 'utf8').trim().split('\n').slice(-5).join('\n')
  throw new StartError(`Postgres did not start: ${said}`, passing.test(said))
}

// ERROR and DETAIL lines can quote rows, and therefore personal data, so the server only logs its own state.
const quiet = {
  max_connections: '100',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
}

// Backends of a killed postmaster hold its shared memory for a moment, and a starting postmaster has an empty
// pid file.
const passing = /still in use|lock file .* (?:already exists|is empty)|could not bind|Address already in use/

/**
 * The live Postgres of this cluster, found by its pid file. Undefined if there is none or the file is stale.
 */
export function findPostmaster(cluster: string): { pid: number; port: number; ready: boolean } | undefined {
  const lines = readLines(join(cluster, 'postmaster.pid'))
  const pid = Number(lines[0])
  if (!isPostmaster(pid, cluster)) return undefined
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' }
}

/** True while the process with this pid is this cluster's Postgres, and not a zombie. */
export function isPostmaster(pid: number, cluster: string): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    // A zombie's command line is empty. A backend's title does not contain the name of the cluster.
    const command =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        : execFileSync('/bin/ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return command.includes(` -D ${cluster} `)
  } catch {
    return false
  }
}

/** Stops Postgres in fast mode: running statements are aborted, and everything committed is kept. */
export async function stopPostmaster(postmaster: Postmaster, cluster: string): Promise<void> {
  const immediateAt = Date.now() + 10_000
  signal(postmaster.pid, 'SIGINT')
  postmaster.leash?.destroy()
  let forced = false
  while (isPostmaster(postmaster.pid, cluster)) {
    if (!forced && Date.now() > immediateAt) {
      signal(postmaster.pid, 'SIGQUIT')
      forced = true
    }
    await sleep(10)
  }
}

/** True if something accepts connections on this loopback port. */
export function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1000 })
    const settle = (open: boolean) => {
      socket.destroy()
      resolve(open)
    }
    socket.on('connect', () => settle(true))
    socket.on('error', () => settle(false))
    socket.on('timeout', () => settle(false))
  })
}

/** True if this process can listen on this loopback port. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(false))
    server.listen({ host: '127.0.0.1', port }, () => server.close(() => resolve(true)))
  })
}

/**
 * Writes a pid that cannot exist into a stale pid file, because Postgres refuses to start while any process
 * has that pid, even a zombie or another program. The rest of the file is kept, because Postgres needs it to
 * find backends that still hold the shared memory.
 */
function replaceDeadPid(cluster: string): void {
  const path = join(cluster, 'postmaster.pid')
  const lines = readLines(path)
  if (isRemnant(path)) rmSync(path, { force: true })
  if (lines.length < 7 || isPostmaster(Number(lines[0]), cluster)) return
  writeFileSync(path, ['4194305', ...lines.slice(1)].join('\n'))
}

/**
 * True if the file was left by a killed start: Postgres fills its pid file right after creating it, so it
 * only stays empty then.
 */
function isRemnant(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.size === 0 && Date.now() - found.mtimeMs > remnantMs
}

const remnantMs = 2_000

function signal(pid: number, name: 'SIGINT' | 'SIGQUIT'): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already ended.
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}
