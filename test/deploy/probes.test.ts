import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeCertificate } from '../support/certificate.ts'
import { freshDatabase } from '../support/database.ts'
import { repository } from '../support/former-release.ts'
import { ownPort } from '../support/own-port.ts'
import { until } from '../support/until.ts'
import { startWire } from '../support/wire.ts'
import { neededValues, type Probe, podsOf, render } from './rendered.ts'

/** What the probes of the chart ask, of processes with the command and the environment of their containers. No cluster is here. */

const connectionsMax = 5
const podsWith = (exposure: string) =>
  podsOf(
    render([
      ...neededValues,
      's3.unused=true',
      `exposure.${exposure}`,
      'gateway.shutdownDelaySeconds=3',
      `env.CONNECTIONS_MAX=${connectionsMax}`,
      'env.LOG_LEVEL=warn',
    ]),
  )
const behindProxy = podsWith('trustedProxies=10.42.0.0/16')
const withTls = podsWith('tlsSecret=gateway-tls')

test('a gateway that leaves, or has all its connections, is not ready and is not killed; without Postgres it is ready', async () => {
  const gateway = await startPod(behindProxy, 'StatefulSet')
  expect(await gateway.answerTo('readinessProbe')).toBe(200)
  expect(await gateway.answerTo('livenessProbe')).toBe(200)

  expect(gateway.imageHealth()).toBe(0)
  const sockets = await Promise.all(Array.from({ length: connectionsMax }, () => open(gateway.port)))
  await until(async () => (await gateway.answerTo('readinessProbe')) === undefined)
  expect(await gateway.answerTo('livenessProbe')).toBe(200)
  for (const socket of sockets) socket.destroy()
  await until(async () => (await gateway.answerTo('readinessProbe')) === 200)

  await gateway.postgres.cut()
  await until(async () => (await read(gateway.port, '/readyz'))?.text.includes('"postgres":"away"'))
  expect(await gateway.answerTo('readinessProbe')).toBe(200)
  expect(await gateway.answerTo('livenessProbe')).toBe(200)
  await gateway.postgres.mend()

  gateway.end()
  await until(async () => (await gateway.answerTo('readinessProbe')) === 503)
  expect(await gateway.answerTo('livenessProbe')).toBe(200)
  expect(await gateway.exited).toBe(0)
})

test('a gateway with its own certificate answers the probes by HTTPS', async () => {
  const gateway = await startPod(withTls, 'StatefulSet')
  expect(await gateway.answerTo('readinessProbe')).toBe(200)
  expect(await gateway.answerTo('livenessProbe')).toBe(200)
  expect(gateway.imageHealth()).toBe(0)
  gateway.end()
  expect(await gateway.exited).toBe(0)
})

test('a worker, which has no port for clients, starts and lives by its port of metrics, also without Postgres', async () => {
  const worker = await startPod(behindProxy, 'Deployment')
  expect(await worker.answerTo('livenessProbe')).toBe(200)
  // Until then it is starting, and would end without Postgres.
  await until(() => worker.said().includes('The Tollgate worker is running.'))
  await worker.postgres.cut()
  expect(await worker.answerTo('livenessProbe')).toBe(200)
  expect(worker.imageHealth()).toBe(0)
  await worker.postgres.mend()
  worker.end()
  expect(await worker.exited).toBe(0)
  expect(worker.imageHealth()).toBe(1)
})

type ProbeName = 'startupProbe' | 'readinessProbe' | 'livenessProbe'

/** Resolves when its startup probe is well. Its ports and its disk are not those of a container. */
async function startPod(pods: ReturnType<typeof podsWith>, kind: 'StatefulSet' | 'Deployment') {
  const pod = pods.find((each) => each.kind === kind)
  if (pod === undefined) throw new Error(`the chart has no ${kind}`)
  const [container] = pod.spec.containers
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-pod-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const database = await freshDatabase()
  onTestFinished(database.drop)
  const postgres = await startWire(database.url)
  const [clients, metrics] = [await ownPort(), await ownPort()]
  const { cert, key } = makeCertificate('localhost')
  const [certFile, keyFile] = [join(dataDir, 'tls.crt'), join(dataDir, 'tls.key')]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  const { PATH = '', HOME = '' } = process.env
  const set = Object.fromEntries(container.env.map(({ name, value }) => [name, value]))
  const env = {
    PATH,
    HOME,
    NODE_ENV: 'production',
    ...set,
    ...(set.TLS_CERT !== undefined && { TLS_CERT: certFile, TLS_KEY: keyFile }),
    DATABASE_URL: postgres.url,
    SECRET_KEY: 'a-secret-key-for-tests-and-nothing-else',
    PORT: String(clients),
    METRICS_PORT: String(metrics),
    DATA_DIR: dataDir,
    PAGES: 'none',
  }
  const run = { cwd: repository, env }
  const child = spawn(process.execPath, ['tollgate.cjs', 'start'], {
    ...run,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  const ports = new Map(Object.entries({ http: clients, metrics }))
  const answerTo = (name: ProbeName) => ask(container[name], ports)
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  await until(async () => (await answerTo('startupProbe')) === 200, 60_000).catch((cause) => {
    throw new Error(`${kind} does not start:\n${said}`, { cause })
  })
  return {
    postgres,
    port: clients,
    answerTo,
    exited,
    said: () => said,
    end: () => void child.kill('SIGTERM'),
    /** The exit code of the image's HEALTHCHECK. */
    imageHealth: () => spawnSync(process.execPath, ['packaging/health.cjs'], run).status,
  }
}

/** The status. Undefined: there was no answer. */
async function ask(
  probe: Probe | undefined,
  ports: ReadonlyMap<string, number>,
): Promise<number | undefined> {
  if (probe === undefined) throw new Error('the chart has no such probe')
  const { path, port, scheme } = probe.httpGet
  return (await read(ports.get(port) ?? 0, path, scheme))?.status
}

/** By a connection of its own, as kubelet asks. */
function read(
  port: number,
  path: string,
  scheme: 'HTTP' | 'HTTPS' = 'HTTP',
): Promise<{ status: number; text: string } | undefined> {
  const { get } = scheme === 'HTTP' ? http : https
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path, agent: false, rejectUnauthorized: false }
    const asked = get(options, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    asked.on('error', () => resolve(undefined))
  })
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket)).once('error', reject)
    onTestFinished(() => void socket.destroy())
  })
}
