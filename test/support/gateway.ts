import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { type Context, openContext } from '../../src/process/context.ts'
import { greetingOf } from '../../src/process/serve.ts'
import { Serving } from '../../src/process/serving.ts'
import type { Clock } from '../../src/runtime/clock.ts'
import { Opened } from '../../src/runtime/opened.ts'
import { makeLog } from '../../src/telemetry/log.ts'
import { startWorkers } from '../../workers/main.ts'
import type { Reached } from './bed.ts'
import { secretKey } from './gateway-yaml.ts'

/**
 * A whole Tollgate inside the process of the test: the same parts as a process of its own, on a port of its own. It cannot be killed,
 * and it prints no greeting. A test that is about a process starts one with `startTollgate`.
 */
export interface Gateway extends Reached {
  /** Throws if it only runs workers. */
  readonly server: Server
  context: Context
  /** Wait until all that the journal has is in Postgres. Rejects after 30 s. */
  ship(): Promise<void>
  /** Let requests end as at SIGTERM. */
  stop(): Promise<void>
}

export interface GatewayOptions {
  databaseUrl: string
  /** Undefined: it starts without one. */
  gatewayYaml: string | undefined
  /** Its whole environment, besides what `defaults` sets. */
  env?: Record<string, string>
  /** The next start with this directory continues with its journal. Default: a new one, removed in the end. */
  dataDir?: string
  /** Of its main thread. Default: the system's. */
  clock?: Clock
  /** Called with the server before it listens. */
  onServer?: (server: Server) => void
}

const defaults = {
  HOST: '127.0.0.1',
  PORT: '0',
  SECRET_KEY: secretKey,
  SHIP_INTERVAL_MS: '20',
  DRAIN_ON_SHUTDOWN_MS: '500',
  // Upstreams of tests count what they are asked.
  MODEL_LIST_REFRESH_MS: '0',
  // Sign-ins are work on purpose.
  SIGN_IN_HASH_COST: '10',
  // With pages, each start would look whether they must be built.
  PAGES: 'none',
  // Upstreams of tests are on this machine.
  PRIVATE_ADDRESSES: '127.0.0.0/8',
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  const dataDir = options.dataDir ?? join(home, 'data')
  const file = join(home, 'gateway.yaml')
  if (options.gatewayYaml !== undefined) writeFileSync(file, options.gatewayYaml)
  const env = {
    ...defaults,
    DATA_DIR: dataDir,
    DATABASE_URL: options.databaseUrl,
    ...(options.gatewayYaml !== undefined && { GATEWAY_CONFIG: file }),
    ...options.env,
  }
  const config = readConfig(env)
  const lines: string[] = []
  const log = makeLog(config.logLevel, { write: (line) => void lines.push(line) })
  const context = await openContext(config, env, log, undefined, new Opened(log), options.clock)
  let server: Server | undefined
  const serving = new Serving(context, {
    startWorkers,
    onServer(made) {
      server = made
      options.onServer?.(made)
    },
  })
  const port = await serving.start()
  let stopped: Promise<void> | undefined
  const greeting = await greetingOf(context, port)
  return {
    url: `${config.tlsCert === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    dataDir,
    get server() {
      if (server === undefined) throw new Error('a gateway of the role worker has no server')
      return server
    },
    context,
    stdout: () => greeting.join('\n'),
    stderr: () => lines.join(''),
    async ship() {
      // Its end ships what the journal has.
      if (stopped !== undefined) return await stopped
      const deadline = Date.now() + 30_000
      while (!(await context.ledger.shipNow())) {
        if (Date.now() > deadline) throw new Error('the journal was not shipped within 30 s')
      }
    },
    stop() {
      stopped ??= serving.stop().then(() => rmSync(home, { recursive: true, force: true }))
      return stopped
    },
  }
}
