import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, fetch, type RequestInit } from 'undici'
import { onTestFinished } from 'vitest'
import { type CountingUpstream, startCountingUpstream } from '../support/counting-upstream.ts'
import { repository } from '../support/former-release.ts'
import { secretKey } from '../support/gateway-yaml.ts'
import { type ImageUpstream, startImageUpstream } from '../support/image-upstream.ts'
import { ownPort } from '../support/own-port.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { type Replicated, startReplicated } from '../support/replicated.ts'
import { startS3 } from '../support/s3.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { until } from '../support/until.ts'

/** Two gateways and two workers over Postgres, Redis and a bucket, behind the Caddyfile of docker-compose.yml. It ends with the test. */
export interface Stack {
  /** `https://localhost:PORT`. */
  url: string
  /** The `fetch` of a client that trusts Caddy's certificate. */
  fetch: (url: string | URL | Request, init?: globalThis.RequestInit) => Promise<Response>
  postgres: Replicated
  redis: RedisServer
  upstream: CountingUpstream
  painter: ImageUpstream
  members: Record<Member, Kept>
  /** What Caddy has written. */
  caddyLog(): string
}

export const memberNames = ['gateway-1', 'gateway-2', 'worker-1', 'worker-2'] as const
export type Member = (typeof memberNames)[number]

/** A process that is ended and started again, on the same port and disk. */
export interface Kept {
  process: TollgateProcess
  /** The log of all its processes. */
  log(): string
  /** SIGTERM, and a new process when it has ended. Answers the exit code. */
  restart(): Promise<number | null>
}

export async function startStack(yaml: (upstream: string, painter: string) => string): Promise<Stack> {
  const [postgres, redis, s3, upstream, painter] = await Promise.all([
    startReplicated(),
    startRedis({ password: 'a-password-of-redis' }),
    startS3(),
    startCountingUpstream(),
    startImageUpstream(),
  ])
  onTestFinished(async () => {
    await Promise.all([redis.stop(), s3.close(), upstream.stop(), painter.close()])
  })
  const common = {
    SECRET_KEY: secretKey,
    REDIS_URL: redis.url,
    S3_BUCKET: s3.options.bucket,
    S3_ENDPOINT: s3.options.endpoint,
    S3_ACCESS_KEY_ID: s3.options.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.options.secretAccessKey,
    SHIP_INTERVAL_MS: '50',
  }
  const keep = async (name: Member): Promise<Kept> => {
    const dataDir = temporary(name)
    const port = await ownPort()
    const gateway = {
      ROLE: 'api',
      PORT: String(port),
      TRUSTED_PROXIES: '127.0.0.1',
      SHUTDOWN_DELAY_MS: '5000',
    }
    const start = () =>
      startTollgate({
        databaseUrl: postgres.url,
        gatewayYaml: yaml(upstream.url, painter.url),
        dataDir,
        env: { ...common, ...(name.startsWith('gateway') ? gateway : { ROLE: 'worker' }) },
      })
    let before = ''
    const kept: Kept = {
      process: await start(),
      log: () => before + kept.process.stderr(),
      async restart() {
        const code = await kept.process.stop()
        before = kept.log()
        kept.process = await start()
        return code
      },
    }
    onTestFinished(() => kept.process.kill9())
    return kept
  }
  const members: Stack['members'] = {
    // The first one migrates.
    'gateway-1': await keep('gateway-1'),
    'gateway-2': await keep('gateway-2'),
    'worker-1': await keep('worker-1'),
    'worker-2': await keep('worker-2'),
  }
  const gateways = [members['gateway-1'], members['gateway-2']].map(
    ({ process }) => `127.0.0.1:${process.port}`,
  )
  const caddy = await startCaddy(gateways)
  return { ...caddy, postgres, redis, upstream, painter, members }
}

async function startCaddy(gateways: readonly string[]): Promise<Pick<Stack, 'url' | 'fetch' | 'caddyLog'>> {
  const home = temporary('caddy')
  const [port, httpPort] = [await ownPort(), await ownPort()]
  const url = `https://localhost:${port}`
  const { PATH = '' } = process.env
  const child = spawn(
    'caddy',
    ['run', '--config', join(repository, 'deploy/compose/Caddyfile'), '--adapter', 'caddyfile'],
    {
      env: {
        PATH,
        HOME: home,
        XDG_DATA_HOME: home,
        XDG_CONFIG_HOME: home,
        DOMAIN: url,
        HTTP_PORT: String(httpPort),
        GATEWAYS: gateways.join(' '),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  onTestFinished(() => ended(child))
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const root = join(home, 'caddy/pki/authorities/local/root.crt')
  await until(() => existsSync(root)).catch((cause) => {
    throw new Error(`Caddy does not start:\n${log}`, { cause })
  })
  const trusting = trustingFetch(readFileSync(root, 'utf8'))
  let last: unknown
  const serves = async () => {
    last = await trusting(`${url}/healthz`).then(({ status }) => status, String)
    return last === 200
  }
  await until(serves).catch((cause) => {
    throw new Error(`The last answer was ${last}:\n${log.slice(-4000)}`, { cause })
  })
  return { url, fetch: trusting, caddyLog: () => log }
}

/** The `fetch` of a client that trusts this authority. It ends with the test. */
export function trustingFetch(ca: string): Stack['fetch'] {
  const agent = new Agent({ connect: { ca }, connections: 512, headersTimeout: 0, bodyTimeout: 0 })
  onTestFinished(() => agent.destroy())
  return (target, init) =>
    // Node and undici have types of their own for the same things.
    fetch(String(target), {
      ...(init as unknown as RequestInit),
      dispatcher: agent,
    }) as unknown as Promise<Response>
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
}

function temporary(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `tollgate-${name}-`))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
