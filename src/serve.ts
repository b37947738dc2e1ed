import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeApp } from './app.ts'
import { type Config, configFromEnvironment } from './config.ts'
import { type Context, openContext } from './context.ts'
import { drain } from './gateway/drain.ts'
import { refuseUnparsed } from './gateway/unparsed.ts'
import { makeLog } from './telemetry/log.ts'

const endMs = 25_000

/** Runs the jobs of the queues in this process. */
export type StartWorkers = (context: Context) => Promise<{ close(): Promise<void> }>

/** A process: config, context, then what its role is: the app, listening until it drains; workers; or both. */
export async function serve(startWorkers: StartWorkers): Promise<void> {
  try {
    await start(startWorkers)
  } catch (error) {
    const causes: string[] = []
    for (let at: unknown = error; at instanceof Error; at = at.cause) causes.push(at.message)
    process.stderr.write(`Tollgate cannot start: ${causes.join(': ') || String(error)}\n`)
    process.exit(1)
  }
}

async function start(startWorkers: StartWorkers): Promise<void> {
  const { config, environment } = configFromEnvironment()
  const log = makeLog(config.logLevel)
  const context = await openContext(config, environment, log, (message) => {
    log.fatal(message)
    process.exit(1)
  })
  // Before anybody can know that this process serves: who is told so may end it at once.
  const ends: End[] = []
  onSignal((signal) => void end(context, ends, signal))
  const work = async () => {
    const workers = await startWorkers(context)
    ends.push(() => workers.close())
  }
  if (config.role === 'worker') {
    await work()
    process.stdout.write(['Tollgate works.', ...newKeysOf(context), ''].join('\n'))
    return
  }
  const server = makeServer(context)
  ends.push(() => drain(context, server))
  await listen(server, config)
  // A process that cannot have its port takes no job.
  if (config.role === 'all') await work()
  const { port } = server.address() as AddressInfo
  const base =
    config.publicUrl ?? `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
  log.info({ host: config.host, port }, 'listening')
  greet(context, base)
}

type End = () => Promise<void>

function makeServer(context: Context): Server {
  const { bounds } = context
  const server = createServer(
    {
      maxHeaderSize: bounds.headerBytesMax,
      requestTimeout: bounds.requestReadMs,
      headersTimeout: bounds.requestReadMs,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 75_000,
    },
    makeApp(context),
  )
  server.on('clientError', refuseUnparsed(context))
  return server
}

function onSignal(end: (signal: string) => void): void {
  let ending = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // A second signal means now.
      if (ending) process.exit(1)
      ending = true
      end(signal)
    })
  }
}

async function end(context: Context, ends: readonly End[], signal: string): Promise<void> {
  context.log.info({ signal }, 'draining')
  context.draining = true
  // Whatever hangs on the way out, the process ends; its journal is adopted, and its jobs are taken, by others.
  setTimeout(() => process.exit(1), context.bounds.drainOnShutdownMs + endMs).unref()
  await Promise.all(ends.map((end) => end()))
  await context.close()
  context.log.info('ended')
  // Everything is written and closed: what a library may still hold open is of no use to anybody.
  process.exit(0)
}

function listen(server: Server, config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`Port ${config.port} is taken by another program. Set PORT to a free one.`)
          : error,
      )
    })
    server.listen(config.port, config.host, resolve)
  })
}

function newKeysOf({ generatedKeys }: Context): string[] {
  return generatedKeys.map(
    ({ tenant, key, secret }) => `new key (shown only now): ${secret}  (tenant ${tenant}, key ${key})`,
  )
}

/** What a person needs to make the first call. */
function greet(context: Context, base: string): void {
  const model = [...context.catalog.snapshot.models.keys()][0] ?? 'MODEL'
  const secret = context.generatedKeys[0]?.secret ?? 'YOUR_KEY'
  const demo = context.catalog.snapshot.models.has('demo-chat')
  const lines = [
    '',
    `Tollgate serves.${demo ? ' Its demo answers as models demo-chat and demo-image: canned text and pictures, no model behind them.' : ''}`,
    `base URL: ${base}/v1`,
    ...newKeysOf(context),
    '',
    `curl -N ${base}/v1/chat/completions -H 'authorization: Bearer ${secret}' -H 'content-type: application/json' \\`,
    `  -d '{"model":"${model}","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
    `curl ${base}/v1/usage/requests -H 'authorization: Bearer ${secret}'`,
    '',
  ]
  process.stdout.write(lines.join('\n'))
}
