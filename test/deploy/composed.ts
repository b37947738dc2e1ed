import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startCountingUpstream } from '../support/counting-upstream.ts'
import { repository } from '../support/former-release.ts'
import { startImageUpstream } from '../support/image-upstream.ts'
import { composePath } from '../support/machine.ts'
import { ownPort } from '../support/own-port.ts'
import { type SmallDisk, smallDisk } from '../support/small-disk.ts'
import { ours, variables } from './compose-file.ts'
import {
  type Containers,
  control,
  exposed,
  gatewayFolder,
  image,
  linesOf,
  runFile,
  throughCaddy,
} from './containers.ts'

/** docker-compose.yml, started by Docker Compose. It ends with the test. */
export interface Composed extends Containers {
  /** The volume of `gateway-1`. */
  disk: SmallDisk
  /** What `docker compose WORDS` prints. Rejects with what it complains about. */
  compose(...words: string[]): Promise<string>
  /** Takes a service out of the network of Postgres, Redis and the store. Answers how to put it back. */
  cutOff(service: string): Promise<() => Promise<void>>
}

const project = `tollgate-composed-${process.pid}`
/** The address of this machine in the network `outside` of docker-compose.yml. */
const here = '172.30.0.1'

/** `yaml` gets the addresses of an upstream and of one for images, and then those of `others`, as containers reach them. */
export async function startComposed(
  yaml: (upstream: string, painter: string, ...others: string[]) => string,
  others: readonly string[] = [],
): Promise<Composed> {
  const [upstream, painter] = await Promise.all([startCountingUpstream(), startImageUpstream()])
  onTestFinished(async () => {
    await Promise.all([upstream.stop(), painter.close()])
  })
  const [httpsPort, postgresPort] = [await ownPort(), await ownPort()]
  const outer = await Promise.all(
    [upstream.url, painter.url, ...others].map(async (url) => ({ url, port: await ownPort() })),
  )
  const [calls = '', pictures = '', ...rest] = outer.map(({ url, port }) => addressOf(url, port))
  const folder = gatewayFolder(yaml(calls, pictures, ...rest))
  const disk = smallDisk(64)
  const changes = join(folder, 'changes.yaml')
  writeFileSync(changes, changesYaml({ folder, disk: disk.path, httpsPort, postgresPort }))
  const settings = join(folder, 'settings.env')
  writeFileSync(
    settings,
    Object.entries(variables)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  const files = ['--file', join(repository, 'docker-compose.yml'), '--file', changes]
  const compose = async (...words: string[]) => {
    const all = ['--project-name', project, '--env-file', settings, ...files, ...words]
    return (await runFile(composePath, all, { maxBuffer: 64 * 1024 * 1024 })).stdout
  }
  onTestFinished(async () => void (await compose('down', '--volumes', '--timeout', '1')))
  await compose('up', '--detach', '--wait', '--no-build')
  for (const { url, port } of outer) await exposed(here, url, port)
  const containerOf = (service: string) => `${project}-${service}-1`
  return {
    ...(await throughCaddy(containerOf('caddy'), httpsPort)),
    databaseUrl: `postgres://tollgate:${variables.POSTGRES_PASSWORD}@127.0.0.1:${postgresPort}/tollgate`,
    upstream,
    disk,
    compose,
    ...control(containerOf),
    async cutOff(service) {
      const [network, container] = [`${project}_inside`, containerOf(service)]
      await linesOf('network', 'disconnect', network, container)
      return async () => void (await linesOf('network', 'connect', '--alias', service, network, container))
    },
  }
}

function addressOf(url: string, port: number): string {
  const { pathname } = new URL(url)
  return `http://${here}:${port}${pathname === '/' ? '' : pathname}`
}

/** What a test changes: the image that it has built, its own upstreams and ports, and a disk that it can fill. */
function changesYaml(of: { folder: string; disk: string; httpsPort: number; postgresPort: number }): string {
  const services = ours.map(
    ([name]) => `
  ${name}:
    image: ${image}
    pull_policy: never
    environment: { GATEWAY_CONFIG: /etc/tollgate/gateway.yaml${name.startsWith('gateway') ? `, PUBLIC_URL: "https://localhost:${of.httpsPort}"` : ''} }
    volumes: ["${of.folder}:/etc/tollgate:ro"${name === 'gateway-1' ? `, "${of.disk}:/data"` : ''}]`,
  )
  return `services:${services.join('')}
  caddy: { ports: !override ["127.0.0.1:${of.httpsPort}:443"] }
  postgres: { ports: ["127.0.0.1:${of.postgresPort}:5432"] }
`
}
