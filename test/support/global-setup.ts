import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../src/db/embedded.ts'
import { prepareDatabase, whenReachable } from '../../src/db/migrate.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { administer } from './administer.ts'
import { startDebianPostgres } from './debian-postgres.ts'
import { inContainers, prepareContainers, removeContainers, startContained } from './in-containers.ts'
import { adviceOn, missingExtras } from './machine.ts'
import { readSources, type Source } from './sources.ts'
import { onOldestPostgres, tiersOf } from './tiers.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A Postgres on which tests may make databases, and the migrated database that they copy. */
    postgres: { url: string; template: string }
  }
}

const consoleLog = relayLog((_level, _fields, message) => console.log(message))

/** One Postgres for a run, and one for the project of the oldest. Each has a migrated database: every `freshDatabase` is a copy of it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer(project.name)
  const template = `tollgate_template_${randomUUID().slice(0, 8)}`
  await administer(server.url, `create database ${template}`)
  const url = new URL(server.url)
  url.pathname = `/${template}`
  await prepareDatabase(url.href)
  project.provide('postgres', { url: server.url, template })
  return async () => {
    if (server.shared) await administer(server.url, `drop database if exists ${template} with (force)`)
    await server.stop()
    if (project.name === onOldestPostgres) return
    const advice = adviceOn(missingExtras(), sourcesOf(project.vitest.projects))
    if (advice !== '') console.log(`\n${advice}`)
  }
}

/** Those that the tests of these projects load. */
function sourcesOf(projects: readonly { name: string }[]): Source[] {
  const sources = readSources()
  const files = new Set(
    Object.entries(tiersOf(sources)).flatMap(([tier, files]) =>
      projects.some(({ name }) => name === tier) ? files : [],
    ),
  )
  return sources.filter(({ file }) => !file.endsWith('.test.ts') || files.has(file))
}

interface Server {
  url: string
  /** The server goes on after the run, so the run must leave nothing in it. */
  shared: boolean
  stop(): Promise<void>
}

function startServer(project: string): Promise<Server> {
  if (project === onOldestPostgres) return startOldest()
  const url = process.env.TEST_DATABASE_URL
  if (url) return useServer(url)
  return inContainers ? startContainer() : startLocal()
}

async function useServer(url: string): Promise<Server> {
  await whenReachable(url, 20_000, consoleLog, async () => {})
  return { url, shared: true, stop: async () => {} }
}

async function startContainer(): Promise<Server> {
  prepareContainers()
  const { host, port } = await startContained({
    image: 'postgres:18',
    command: ['postgres', '-c', 'fsync=off', '-c', 'max_connections=300'],
    environment: { POSTGRES_PASSWORD: 'test' },
    port: 5432,
    // The server starts twice. The first time it initializes itself and has no port.
    ready: /ready to accept connections/,
    count: 2,
  }).catch((error) => {
    removeContainers()
    throw error
  })
  const url = `postgres://postgres:test@${host}:${port}/postgres`
  await whenReachable(url, 20_000, consoleLog, async () => {})
  return { url, shared: false, stop: async () => removeContainers() }
}

/** Nothing of a run needs to survive its machine. */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
}

/** An operator's own server may have any time zone. Days are those of UTC all the same. */
async function startOldest(): Promise<Server> {
  const { url, stop } = await startDebianPostgres({ ...settings, timezone: 'America/New_York' })
  return { url, shared: false, stop }
}

async function startLocal(): Promise<Server> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  // When the tests run as root, Postgres runs as another user and must be able to enter.
  chmodSync(dataDir, 0o711)
  const embedded = await startEmbedded({ dataDir, log: consoleLog, settings })
  return {
    url: embedded.url,
    shared: false,
    async stop() {
      await embedded.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
