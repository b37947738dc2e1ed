import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type ListenOptions } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Config, configFromEnvironment } from '../config/config.ts'
import { startEmbedded } from '../db/embedded.ts'
import { requireNoFormerJournals } from '../db/former-journals.ts'
import { Backoff } from '../runtime/backoff.ts'
import { type Log, openLog } from '../telemetry/log.ts'
import type { ProcessesMetrics } from '../telemetry/metrics/supervise-metrics.ts'
import { onEndSignal, onReloadSignal, onUncaught } from './end-signals.ts'
import {
  type Orders,
  reloadMessage,
  type Serves,
  type Supervisor,
  supervisedArgument,
  supervisorOfThisProcess,
} from './supervised.ts'

/** Runs the process until it ends. */
export type Serve = (supervisor: Supervisor | undefined) => Promise<void>

/**
 * Serves in this process or, if PROCESSES is more than 1, starts that many processes and restarts those that
 * end. They share the port, and the kernel distributes connections among them. `nodeArgs` are Node's
 * arguments for each of them. If the start fails, prints the reason and exits with code 1.
 */
export async function runProcesses(nodeArgs: readonly string[], serve: Serve): Promise<void> {
  try {
    const supervisor = await supervisorOfThisProcess()
    const { config } = configFromEnvironment()
    requireNoFormerJournals(resolve(config.dataDir))
    if (config.processes > 1 && supervisor === undefined) await supervise(config, nodeArgs)
    else await serve(supervisor)
  } catch (error) {
    const causes: string[] = []
    for (let at: unknown = error; at instanceof Error; at = at.cause) causes.push(at.message)
    process.stderr.write(`Tollgate cannot start: ${causes.join(': ') || String(error)}\n`)
    process.exit(1)
  }
}

/**
 * The number of connections to Postgres: for each serving process, including its workers and queues, and for
 * all other clients together.
 */
const connections = { each: 36, others: 68 }
const restartMs = { least: 100, most: 5_000 }
/**
 * If a process ran for at least this long, its end does not count as a failed start, and the next restart is
 * quick again.
 */
const steadyMs = 30_000
/** A process ends itself at its deadline. If it does not, it is killed after this additional time. */
const killMs = 30_000

async function supervise(config: Config, nodeArgs: readonly string[]): Promise<never> {
  const log = await openLog(config.logLevel, config.logFormat)
  const running = new Set<Kept>()
  onReloadSignal(() => {
    for (const { child } of running) child?.send?.(reloadMessage, () => {})
  })
  if (config.role !== 'worker') await requirePort(config)
  const metrics = await openMetrics(config, log)
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbedded({
          dataDir: resolve(config.dataDir),
          log,
          settings: { max_connections: String(connections.others + config.processes * connections.each) },
        })
      : undefined
  const ending = endOnSignal(running, config.bounds, log)
  const start = (port: number, role: Pick<Orders, 'greets' | 'buildsPages'>) => {
    const kept = startProcess(nodeArgs, { port, embeddedUrl: embedded?.url, ...role }, running, log)
    void kept.serves.then((port) => {
      if (port !== undefined && kept.child !== undefined) metrics?.follow(kept.child)
    })
    return kept
  }

  // The first process starts alone, because it migrates and chooses the port. If it cannot start, no other
  // process can.
  const first = start(config.port, { greets: true, buildsPages: true })
  const port = await first.serves
  const well = port !== undefined && !ending.aborted ? await keepAll(port) : await first.ended
  await embedded?.stop()
  process.exit(process.exitCode ?? (well || ending.aborted ? 0 : 1))

  async function keepAll(port: number): Promise<boolean> {
    const others = Array.from({ length: config.processes - 1 }, () =>
      start(port, { greets: false, buildsPages: false }),
    )
    void Promise.all(others.map(({ serves }) => serves)).then((ports) => {
      if (!ports.includes(undefined))
        log.info({ processes: config.processes, port }, 'all processes are ready')
    })
    const again = () => {
      metrics?.restarted()
      // The previous process may have ended in the middle of a build.
      return start(port, { greets: false, buildsPages: true })
    }
    const ends = [first, ...others].map((kept) => keep(kept, again, ending, log))
    return (await Promise.all(ends)).every((well) => well)
  }
}

/**
 * Loaded only if METRICS_PORT is set. The library that renders the response is loaded on the first request.
 */
async function openMetrics(config: Config, log: Log): Promise<ProcessesMetrics | undefined> {
  const { metricsHost, metricsPort, processes } = config
  if (metricsPort === undefined) return undefined
  const { superviseMetrics } = await import('../telemetry/metrics/supervise-metrics.ts')
  return await superviseMetrics(processes, { metricsHost, metricsPort }, log)
}

/**
 * Checks that no other program uses the port. With SO_REUSEPORT we could share the port with another program
 * of the same user, so this listens once without it. Rejects with an Error for the operator.
 */
async function requirePort({ host, port }: Config): Promise<void> {
  await tryToListen({ host, port }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EADDRINUSE') throw cause
    throw new Error(`Port ${port} is taken by another program. Set PORT to a free port.`)
  })
  await tryToListen({ host, port: 0, reusePort: true }).catch((cause: Error) => {
    throw new Error(
      'PROCESSES must be 1, because on this system two processes cannot listen on the same port',
      { cause },
    )
  })
}

function tryToListen(options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(options, () => server.close(() => resolve()))
  })
}

/**
 * Returns a signal that aborts when this process receives SIGTERM or SIGINT, or cannot continue. Sends the
 * same signal, or SIGTERM, to the other processes.
 */
function endOnSignal(
  running: ReadonlySet<Kept>,
  { shutdownDelayMs, drainOnShutdownMs }: Config['bounds'],
  log: Log,
): AbortSignal {
  const ending = new AbortController()
  const kill = () => {
    for (const { child } of running) child?.kill('SIGKILL')
    process.exit(1)
  }
  const end = (signal: NodeJS.Signals) => {
    if (ending.signal.aborted) return
    log.info({ signal, processes: running.size }, 'ending all processes')
    ending.abort()
    for (const { child } of running) child?.kill(signal)
    setTimeout(kill, shutdownDelayMs + drainOnShutdownMs + killMs).unref()
  }
  onEndSignal(end, kill)
  onUncaught(log, () => end('SIGTERM'))
  return ending.signal
}

/** A process started by the supervisor. */
interface Kept {
  /** Undefined if the start failed. */
  child: ChildProcess | undefined
  /** Resolves with the port when the process is ready, or with undefined if it ends before that. */
  serves: Promise<number | undefined>
  /** Resolves with whether the exit code was 0. */
  ended: Promise<boolean>
}

/**
 * Starts a process. If the start fails, for example for lack of memory or files, it is treated like a process
 * that has ended, and the others continue.
 */
function startProcess(nodeArgs: readonly string[], orders: Orders, running: Set<Kept>, log: Log): Kept {
  const notStarted = (cause: unknown) => log.error({ cause: String(cause) }, 'a process could not be started')
  let child: ChildProcess
  try {
    const entry = join(import.meta.dirname, '../server.ts')
    child = spawn(process.execPath, [...nodeArgs, entry, supervisedArgument], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    })
  } catch (cause) {
    notStarted(cause)
    return { child: undefined, serves: Promise.resolve(undefined), ended: Promise.resolve(false) }
  }
  const ended = new Promise<boolean>((resolve) => {
    child.once('exit', (code) => resolve(code === 0))
    child.on('error', (cause) => {
      // The orders could not be sent. Without them the process ends itself.
      if (child.pid !== undefined) return
      notStarted(cause)
      resolve(false)
    })
  })
  const serves = new Promise<number | undefined>((resolve) => {
    child.on('message', (message) => {
      if (typeof message === 'object' && 'port' in message) resolve((message as Serves).port)
    })
    void ended.then(() => resolve(undefined))
  })
  // A process that failed to start has no channel.
  child.send?.(orders, () => {})
  const kept = { child, serves, ended }
  running.add(kept)
  void ended.then(() => running.delete(kept))
  return kept
}

/**
 * Starts another process whenever one ends, until `ending`. Resolves with whether the last one ended with
 * exit code 0.
 */
async function keep(first: Kept, again: () => Kept, ending: AbortSignal, log: Log): Promise<boolean> {
  const pauses = new Backoff(restartMs)
  for (let kept = first; ; kept = again()) {
    const startedAt = performance.now()
    const well = await kept.ended
    if (ending.aborted) return well || (await kept.serves) === undefined
    if (performance.now() - startedAt > steadyMs) pauses.reset()
    const waitMs = pauses.next()
    const { pid, exitCode, signalCode } = kept.child ?? {}
    log.warn({ process: pid, exitCode, signalCode, waitMs }, 'a process has ended; starting another')
    await sleep(waitMs, undefined, { signal: ending }).catch(() => {})
    if (ending.aborted) return true
  }
}
