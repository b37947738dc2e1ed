import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { type CountingUpstream, startCountingUpstream } from '../support/counting-upstream.ts'
import { repository } from '../support/former-release.ts'
import { startImageUpstream } from '../support/image-upstream.ts'
import { ownPort } from '../support/own-port.ts'
import { startS3 } from '../support/s3.ts'
import { until } from '../support/until.ts'
import { filled, ours, type Service, services, variables } from './compose-file.ts'
import { type Stack, trustingFetch } from './stack.ts'

/** The image of the Dockerfile. It stays in the engine, as the cache of the next build. */
export const image = 'tollgate-test'
/** All that this process makes in the engine has it. */
export const label = `tollgate-test=${process.pid}`
const prefix = `tollgate-test-${process.pid}`

export const runFile = promisify(execFile)

/** Runs Docker's client, and answers what it prints. Rejects with what it complains about. */
export async function docker(...words: string[]): Promise<string> {
  const { stdout } = await runFile('docker', words, { maxBuffer: 64 * 1024 * 1024 })
  return stdout.trim()
}

/** Builds the image, where it is not in the engine yet. Files that run at once do that one after the other. */
export async function buildImage(tag = image, ...words: string[]): Promise<void> {
  const build = ['docker', 'build', '--quiet', '--network', 'host', '--tag', tag, ...words, repository]
  await runFile('flock', [join(tmpdir(), 'tollgate-image.lock'), ...build])
}

/** Names of the services that `startContainers` starts. */
export const started = Object.keys(services).filter((name) => name !== 's3' && name !== 'bucket')

/** The services of docker-compose.yml in containers. The upstreams are this process's. It all ends with the test. */
export interface Containers extends Pick<Stack, 'url' | 'fetch'> {
  databaseUrl: string
  upstream: CountingUpstream
  containerOf(service: string): string
  /** Ends its process by SIGKILL from outside. Resolves when the engine has started it again, and its health check is well. */
  kill9(service: string): Promise<void>
  /** SIGTERM, with the time of docker-compose.yml. Answers the exit code. */
  stop(service: string): Promise<number>
}

export interface ContainersByRun extends Containers {
  /** Runs a service once more, with other settings, until it ends. Rejects, with its `stderr`, when that is not with 0. */
  run(service: string, environment: Record<string, string>): Promise<string>
}

/** Starts each service by `docker run`, with all that docker-compose.yml says of it. The store is one of this process. */
export async function startContainers(
  yaml: (upstream: string, painter: string) => string,
  imageOfOurs = image,
): Promise<ContainersByRun> {
  onTestFinished(removeAll)
  for (const name of ['inside', 'outside'])
    await docker('network', 'create', '--label', label, `${prefix}-${name}`)
  const [here = '', proxies = ''] = await Promise.all([
    docker('network', 'inspect', '--format', '{{(index .IPAM.Config 0).Gateway}}', `${prefix}-inside`),
    docker('network', 'inspect', '--format', '{{(index .IPAM.Config 0).Subnet}}', `${prefix}-outside`),
  ])
  const [s3, upstream, painter] = await Promise.all([
    startS3(),
    startCountingUpstream(),
    startImageUpstream(),
  ])
  onTestFinished(async () => {
    await Promise.all([s3.close(), upstream.stop(), painter.close()])
  })
  const [store, calls, pictures] = await Promise.all(
    [s3.options.endpoint, upstream.url, painter.url].map((url) => exposed(here, url)),
  )
  const config = gatewayFolder(yaml(calls ?? '', pictures ?? ''))
  const [httpsPort, postgresPort] = [await ownPort(), await ownPort()]
  const changes: Record<string, Changes> = {
    ...Object.fromEntries(
      ours.map(([name]) => [
        name,
        {
          image: imageOfOurs,
          volumes: [`${config}:/etc/tollgate:ro`],
          environment: {
            GATEWAY_CONFIG: '/etc/tollgate/gateway.yaml',
            S3_ENDPOINT: store ?? '',
            S3_BUCKET: s3.options.bucket,
            S3_ACCESS_KEY_ID: s3.options.accessKeyId,
            S3_SECRET_ACCESS_KEY: s3.options.secretAccessKey,
            ...(name.startsWith('gateway') && {
              TRUSTED_PROXIES: proxies,
              PUBLIC_URL: `https://localhost:${httpsPort}`,
            }),
          },
        },
      ]),
    ),
    caddy: { port: `${httpsPort}:443` },
    postgres: { port: `${postgresPort}:5432` },
  }
  await Promise.all(started.map((name) => start(name, changes[name])))
  const password = variables.POSTGRES_PASSWORD
  return {
    ...(await throughCaddy(`${prefix}-caddy`, httpsPort)),
    databaseUrl: `postgres://tollgate:${password}@127.0.0.1:${postgresPort}/tollgate`,
    upstream,
    ...control((service) => `${prefix}-${service}`),
    run: (service, environment) => {
      const usual = changes[service]
      const changed = { ...usual, environment: { ...usual?.environment, ...environment } }
      return docker('run', '--rm', ...wordsOf(service, changed))
    },
  }
}

interface Changes {
  image?: string
  environment?: Record<string, string>
  volumes?: string[]
  /** HOST:CONTAINER, on loopback. */
  port?: string
}

/** What is done to containers, whoever has started them. */
export function control(containerOf: (service: string) => string) {
  return {
    containerOf,
    async kill9(service: string): Promise<void> {
      const name = containerOf(service)
      const before = await stateOf(name)
      const asRoot = [
        '--user',
        '0',
        '--pid',
        'host',
        '--network',
        'none',
        '--label',
        label,
        '--entrypoint',
        'sh',
      ]
      await docker('run', '--rm', ...asRoot, image, '-c', `kill -9 ${before.pid}`)
      await until(async () => (await stateOf(name)).startedAt !== before.startedAt)
      await untilWell(name)
    },
    async stop(service: string): Promise<number> {
      const name = containerOf(service)
      const seconds = Number.parseInt(services[service]?.stop_grace_period ?? '10', 10)
      await docker('stop', '--time', String(seconds), name)
      return Number(await docker('inspect', '--format', '{{.State.ExitCode}}', name))
    },
  }
}

async function stateOf(name: string): Promise<{ pid: number; startedAt: string; health: string }> {
  const format =
    '{{.State.Pid}} {{.State.StartedAt}} {{if .State.Health}}{{.State.Health.Status}}{{else}}none{{end}}'
  const [pid, startedAt = '', health = ''] = (await docker('inspect', '--format', format, name)).split(' ')
  return { pid: Number(pid), startedAt, health }
}

/** Resolves when it runs, and its health check, if it has one, says that it is well. */
export async function untilWell(name: string): Promise<void> {
  await until(async () => {
    const { pid, health } = await stateOf(name)
    return pid > 0 && (health === 'none' || health === 'healthy')
  }).catch(async (cause) => {
    throw new Error(`${name} is not well:\n${(await docker('logs', '--tail', '50', name)).slice(-4000)}`, {
      cause,
    })
  })
}

async function start(service: string, changes: Changes = {}): Promise<void> {
  const { networks } = partsOf(service)
  const name = `${prefix}-${service}`
  const restart = ['--restart', partsOf(service).restart]
  await docker('create', '--name', name, ...restart, '--network-alias', service, ...wordsOf(service, changes))
  for (const network of networks.slice(1))
    await docker('network', 'connect', '--alias', service, `${prefix}-${network}`, name)
  await docker('start', name)
}

function partsOf(service: string): Service {
  const parts = services[service]
  if (parts === undefined) throw new Error(`docker-compose.yml has no ${service}`)
  return parts
}

/** What follows `docker create` for what docker-compose.yml says of a service: options, the image, its command. */
function wordsOf(name: string, { image, environment, volumes = [], port }: Changes): string[] {
  const service = partsOf(name)
  const each = (option: string, values: readonly string[]) => values.flatMap((value) => [option, value])
  const variables = Object.entries({ ...service.environment, ...environment })
  const { hostname, shm_size, healthcheck } = service
  return [
    ...['--label', label, '--network', `${prefix}-${service.networks[0]}`],
    ...each(
      '--env',
      variables.map(([name, value]) => `${name}=${filled(value)}`),
    ),
    ...each('--volume', [...service.volumes.map(placed), ...volumes]),
    ...each('--tmpfs', service.tmpfs),
    ...each('--cap-drop', service.cap_drop),
    ...each('--security-opt', service.security_opt),
    ...(service.read_only ? ['--read-only'] : []),
    ...(hostname === undefined ? [] : ['--hostname', hostname]),
    ...(shm_size === undefined ? [] : ['--shm-size', shm_size]),
    ...(port === undefined ? [] : ['--publish', `127.0.0.1:${port}`]),
    ...(healthcheck === undefined ? [] : healthWords(healthcheck)),
    image ?? service.image,
    ...service.command.map(filled),
  ]
}

/** A command without a shell has no quotes in our file. */
function healthWords({ test, interval, retries }: NonNullable<Service['healthcheck']>): string[] {
  const command = test.slice(1).join(' ')
  return ['--health-cmd', command, '--health-interval', interval, '--health-retries', String(retries)]
}

function placed(volume: string): string {
  return volume.startsWith('./') ? join(repository, volume) : `${prefix}-${volume}`
}

/** Caddy makes its authority at its first start. Resolves when a gateway answers through it. */
export async function throughCaddy(container: string, port: number): Promise<Pick<Stack, 'url' | 'fetch'>> {
  const file = '/data/caddy/pki/authorities/local/root.crt'
  const ca = await until(() => docker('exec', container, 'cat', file).catch(() => undefined))
  const [url, fetch] = [`https://localhost:${port}`, trustingFetch(ca)]
  await until(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200).catch(
    async (cause) => {
      throw new Error(`nothing answers:\n${(await docker('logs', '--tail', '50', container)).slice(-4000)}`, {
        cause,
      })
    },
  )
  return { url, fetch }
}

/** A folder with gateway.yaml, for the user of the image to read. It goes with the test. */
export function gatewayFolder(yaml: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-containers-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  writeFileSync(join(folder, 'gateway.yaml'), yaml, { mode: 0o644 })
  return folder
}

/**
 * The server at `url`, of this machine's loopback, at an address of this machine that containers reach, and `at` a port. It ends
 * with the test.
 */
export async function exposed(host: string, url: string, at?: number): Promise<string> {
  const sockets = new Set<Socket>()
  const { port, pathname } = new URL(url)
  const server = createServer((client) => {
    const far = connect(Number(port), '127.0.0.1')
    for (const [from, to] of [
      [client, far],
      [far, client],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy()).on('close', () => sockets.delete(from))
    }
  })
  const own = at ?? (await ownPort())
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(own, host, resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `http://${host}:${own}${pathname === '/' ? '' : pathname}`
}

/** What this process has made in the engine and the engine on the machine, of all that is still there. */
export async function left(): Promise<
  Record<keyof typeof made | 'containers' | 'networks' | 'volumes', string[]>
> {
  const filter = ['--quiet', '--filter', `label=${label}`]
  const mounts = readFileSync('/proc/mounts', 'utf8')
  return {
    containers: await linesOf('ps', '--all', ...filter),
    networks: await linesOf('network', 'ls', ...filter),
    volumes: await linesOf('volume', 'ls', '--quiet', '--filter', `name=${prefix}-`),
    bridges: made.bridges.filter((name) => existsSync(`/sys/class/net/${name}`)),
    mounts: made.mounts.filter((path) => mounts.includes(` ${path} `)),
  }
}

/** Of what `removeAll` has removed. */
const made = { bridges: [] as string[], mounts: [] as string[] }

async function removeAll(): Promise<void> {
  const { containers } = await left()
  if (containers.length > 0) {
    made.mounts.push(
      ...(await linesOf('inspect', '--format', '{{.GraphDriver.Data.MergedDir}}', ...containers)),
    )
    await docker('rm', '--force', '--volumes', ...containers)
  }
  const { networks, volumes } = await left()
  made.bridges.push(...networks.map((id) => `br-${id}`))
  if (networks.length > 0) await docker('network', 'rm', ...networks)
  if (volumes.length > 0) await docker('volume', 'rm', ...volumes)
}

export const linesOf = async (...words: string[]) => (await docker(...words)).split('\n').filter(Boolean)
