import { execFile } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Log } from '../telemetry/log.ts'
import { findBinaries, giveTo, makeCluster, postgresUser } from './embedded-home.ts'
import { withFileLock } from './file-lock.ts'
import type { Postmaster } from './postmaster.ts'
import {
  answers,
  findPostmaster,
  isFree,
  isPostmaster,
  StartError,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts'

/** The Postgres of a data directory, which is kept running until `stop`. */
export interface EmbeddedPostgres {
  /**
   * The address of the database `postgres`, as the superuser. It remains valid when Postgres is restarted.
   */
  url: string
  /**
   * Stops Postgres if this process started it. Another process using the same data directory then starts it
   * again.
   */
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  dataDir: string
  log: Log
  /**
   * Server settings, e.g. `{ fsync: 'off' }`. Only those of the process that starts Postgres have an effect.
   */
  settings?: Record<string, string>
}

/**
 * Starts the Postgres that was installed with the packages, or attaches to one that another process using
 * this `dataDir` has started.
 * Postgres ends when the process that started it ends, even after kill -9; another process using the
 * directory then starts it again. Intended for development and small installations: loopback only, one
 * machine. If it cannot run on this machine, throws an Error that explains what to do.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  mkdirSync(options.dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  const dataDir = realpathSync(options.dataDir)
  const lock = join(dataDir, 'postgres.lock')
  let { postmaster, record } = await withFileLock(lock, async () => {
    const record = await prepareCluster(dataDir, options.log)
    return bringUp({ ...options, dataDir }, record)
  })

  let stopping = false
  let healing: Promise<void> | undefined
  let complaint = ''
  const heal = async () => {
    try {
      const up = await withFileLock(lock, async () =>
        stopping ? undefined : bringUp({ ...options, dataDir }, record, 'same'),
      )
      if (up === undefined) return
      postmaster.leash?.destroy()
      postmaster = up.postmaster
      complaint = ''
      if (postmaster.leash)
        options.log.info({}, `Postgres had stopped and was restarted on port ${postmaster.port}`)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (message !== complaint)
        options.log.info({}, `Postgres has stopped and cannot be restarted: ${message}`)
      complaint = message
    }
  }
  const supervisor = setInterval(() => {
    if (healing || isPostmaster(postmaster.pid, record.cluster)) return
    healing = heal().finally(() => {
      healing = undefined
    })
  }, superviseMs)
  supervisor.unref()

  return {
    url: urlOf({ ...record, port: postmaster.port }),
    async stop() {
      stopping = true
      clearInterval(supervisor)
      await healing
      if (postmaster.leash) await stopPostmaster(postmaster, record.cluster)
    },
  }
}

/**
 * The address of the Postgres that belongs to this data directory; undefined if there has never been one.
 * Starts nothing.
 */
export function embeddedUrl(dataDir: string): string | undefined {
  const record = readRecord(dataDir)
  return record === undefined ? undefined : urlOf(record)
}

/**
 * The folder of a data directory's cluster and the text of its record, which contains the password. Throws an
 * Error if there is no cluster.
 */
export function embeddedCluster(dataDir: string): { cluster: string; record: string } {
  const record = readRecord(dataDir)
  if (record?.initialized !== true) throw new Error(`${dataDir} does not contain an embedded database`)
  return { cluster: record.cluster, record: readFileSync(join(dataDir, recordFile), 'utf8') }
}

/**
 * Creates the cluster folder of a data directory that has none, lets `fill` copy a cluster into it, and then
 * writes `record`, which was copied together with that cluster. Nothing is started. If `fill` rejects, the
 * folder is removed.
 */
export async function placeCluster(
  dataDir: string,
  record: string,
  fill: (cluster: string) => Promise<void>,
): Promise<void> {
  mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  const real = realpathSync(dataDir)
  if (existsSync(join(real, recordFile))) throw new Error(`${real} already contains an embedded database`)
  const cluster = await makeCluster(real)
  try {
    await fill(cluster)
  } catch (error) {
    rmSync(cluster, { recursive: true, force: true })
    throw error
  }
  giveTo(postgresUser(cluster), cluster)
  const copied: ClusterRecord = JSON.parse(record)
  writeRecord(real, { ...copied, cluster })
}

function urlOf({ password, port }: Pick<ClusterRecord, 'password' | 'port'>): string {
  return `postgres://${superuser}:${password}@127.0.0.1:${port}/postgres`
}

const superuser = 'tollgate'
const recordFile = 'postgres.json'
const superviseMs = 300
const startMs = 30_000

/** The contents of `postgres.json` (`recordFile`): how to reach the cluster of a data directory. */
interface ClusterRecord {
  port: number
  password: string
  /**
   * Absolute in memory. In the file, a path inside the data directory is relative, so that the directory can
   * be moved.
   */
  cluster: string
  initialized: boolean
}

async function prepareCluster(dataDir: string, log: Log): Promise<ClusterRecord> {
  let record = readRecord(dataDir)
  if (record === undefined) {
    if (existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) {
      throw new Error(
        `${join(dataDir, 'postgres.json')} is missing, and it contains the password of the database next to it. ` +
          'Restore it, or move the directory `postgres` elsewhere to begin with an empty database',
      )
    }
    record = {
      port: await pickPort(),
      password: randomBytes(24).toString('base64url'),
      cluster: await makeCluster(dataDir),
      initialized: false,
    }
    writeRecord(dataDir, record)
    if (dirname(record.cluster) !== dataDir) {
      log.info(
        {},
        `Postgres cannot run as root, and its user has no access to ${dataDir}, so the database is in ${record.cluster}`,
      )
    }
  }
  if (!record.initialized) {
    await initialize(record)
    record = { ...record, initialized: true }
    writeRecord(dataDir, record)
  }
  if (!existsSync(join(record.cluster, 'PG_VERSION'))) {
    throw new Error(
      `the database of ${dataDir}, which was in ${record.cluster}, is missing. ` +
        `Restore it, or remove ${join(dataDir, 'postgres.json')} to begin with an empty database`,
    )
  }
  return record
}

/**
 * Runs initdb in a draft directory and then renames it, so that the cluster is either complete or absent if
 * this process dies.
 */
async function initialize(record: ClusterRecord): Promise<void> {
  const draft = `${record.cluster}.new`
  const passwordFile = `${record.cluster}.password`
  const user = postgresUser(record.cluster)
  const bin = await findBinaries(dirname(record.cluster), user)
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  giveTo(user, draft)
  writeFileSync(passwordFile, record.password, { mode: 0o600 })
  giveTo(user, passwordFile)
  const args = ['-D', draft, '-U', superuser, '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']
  try {
    await promisify(execFile)(join(bin, 'initdb'), [...args, ...locale, ...initdbSync], {
      cwd: '/',
      env: { LC_ALL: 'C' },
      ...user,
    })
    rmSync(record.cluster, { recursive: true, force: true })
    renameSync(draft, record.cluster)
  } catch (cause) {
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : String(cause)
    throw new Error(
      `cannot create the embedded database (set DATABASE_URL to use your own Postgres): ${said}`,
      {
        cause,
      },
    )
  } finally {
    rmSync(passwordFile, { force: true })
  }
}

// This runs one syncfs instead of a thousand fsyncs.
const initdbSync = process.platform === 'linux' ? ['--sync-method=syncfs'] : []

/** Attaches to the cluster's running Postgres, or starts it. The caller must hold the lock. */
async function bringUp(
  { dataDir, settings = {} }: EmbeddedOptions,
  record: ClusterRecord,
  port: 'same' | 'any' = 'any',
): Promise<{ postmaster: Postmaster; record: ClusterRecord }> {
  const { cluster } = record
  const deadline = Date.now() + startMs
  for (;;) {
    const running = findPostmaster(cluster)
    if (running?.ready && (await answers(running.port))) {
      return { postmaster: { pid: running.pid, port: running.port, leash: undefined }, record }
    }
    if (Date.now() > deadline)
      throw new Error(
        `Postgres neither started nor stopped within ${startMs} ms: see ${join(dataDir, 'postgres.log')}`,
      )
    // It is starting, or ending because its owner has ended.
    if (running) {
      await sleep(20)
      continue
    }
    if (port === 'any' && !(await isFree(record.port))) {
      record = { ...record, port: await pickPort() }
      writeRecord(dataDir, record)
    }
    const user = postgresUser(cluster)
    if (user && statSync(cluster).uid !== user.uid) giveTo(user, cluster)
    // A restored data directory is often accessible to other users, which Postgres does not accept.
    if (statSync(cluster).mode & 0o077) chmodSync(cluster, 0o700)
    const binary = join(await findBinaries(dirname(cluster), user), 'postgres')
    const logFile = join(dataDir, 'postgres.log')
    try {
      return {
        postmaster: await startPostmaster({ binary, cluster, port: record.port, user, logFile, settings }),
        record,
      }
    } catch (error) {
      if (!(error instanceof StartError && error.retry) || Date.now() > deadline) throw error
      await sleep(100)
    }
  }
}

/**
 * Picks a port below the range used for outgoing connections, so that it is probably still free at the next
 * start.
 */
async function pickPort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_432, 32_000)
    if (await isFree(port)) return port
  }
}

function readRecord(dataDir: string): ClusterRecord | undefined {
  const path = join(dataDir, recordFile)
  if (!existsSync(path)) return undefined
  const record: ClusterRecord = JSON.parse(readFileSync(path, 'utf8'))
  return { ...record, cluster: resolve(dataDir, record.cluster) }
}

function writeRecord(dataDir: string, record: ClusterRecord): void {
  const path = join(dataDir, recordFile)
  const inside = dirname(record.cluster) === dataDir
  const cluster = inside ? relative(dataDir, record.cluster) : record.cluster
  writeFileSync(`${path}.new`, `${JSON.stringify({ ...record, cluster }, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
