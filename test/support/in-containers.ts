import { execFileSync, spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { basename } from 'node:path'
import { ownPort } from './own-port.ts'

/** `TEST_CONTAINERS=1`: the Postgres of the run, and each Redis, have a container of the engine that Docker's client finds. */
export const inContainers = process.env.TEST_CONTAINERS === '1'

/** The network of the run's containers, and the value of their label. Its other processes have the same temporary folder. */
const run = basename(tmpdir())
const label = 'tollgate-tests'

/** A server in a container of its own, on the same port for as long as it is not removed. */
export interface Contained {
  host: string
  port: number
  /** Its process, as the machine of the engine sees it. */
  pid(): number
  kill9(): void
  /** After `kill9`. */
  start(): void
  /** Connections stay open and nothing answers. */
  pause(): void
  resume(): void
  remove(): void
}

/** Resolves when the log has said `count` times that it is `ready`. */
export async function startContained(options: {
  image: string
  command: string[]
  environment?: Record<string, string>
  port: number
  ready: RegExp
  count: number
}): Promise<Contained> {
  const { image, command, environment = {}, port, ready, count } = options
  const { GenericContainer, Wait } = await import('testcontainers')
  const hostPort = await ownPort()
  const container = await new GenericContainer(image)
    .withNetworkMode(run)
    .withLabels({ [label]: run })
    .withEnvironment(environment)
    .withCommand(command)
    .withExposedPorts({ container: port, host: hostPort })
    .withWaitStrategy(Wait.forLogMessage(ready, count))
    .start()
  const id = container.getId()
  return {
    host: container.getHost(),
    port: hostPort,
    pid: () => Number(docker('inspect', '--format', '{{.State.Pid}}', id)[0]),
    kill9: () => docker('kill', id),
    start: () => docker('start', id),
    pause: () => docker('pause', id),
    // It may not be paused.
    resume: () => void spawnSync('docker', ['unpause', id]),
    remove: () => docker('rm', '--force', '--volumes', id),
  }
}

/** Before the run's first container. */
export function prepareContainers(): void {
  // It is an image of its own, which no package has. `removeContainers` does its work.
  process.env.TESTCONTAINERS_RYUK_DISABLED = 'true'
  // Else it asks for the engine's usual bridge, which ours does not have.
  process.env.TESTCONTAINERS_HOST_OVERRIDE ??= '127.0.0.1'
  docker('network', 'create', '--label', `${label}=${run}`, run)
}

/** All that the run has made in the engine, whatever its tests have left. */
export function removeContainers(): void {
  const filter = ['--quiet', '--filter', `label=${label}=${run}`]
  const containers = docker('ps', '--all', ...filter)
  if (containers.length > 0) docker('rm', '--force', '--volumes', ...containers)
  docker('network', 'rm', run)
}

/** The lines that Docker's client prints. Throws what it complains about. */
function docker(...words: string[]): string[] {
  return execFileSync('docker', words, { encoding: 'utf8', stdio: 'pipe' }).split('\n').filter(Boolean)
}
