import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type postgres from 'postgres'
import packageJson from '../../../package.json' with { type: 'json' }
import { embeddedCluster } from '../../db/embedded.ts'
import { clusterFolder, copyCluster } from './copy-cluster.ts'
import { bytesOfParts, copyParts, dataParts } from './data-parts.ts'
import { type Manifest, type StoredFile, writeManifest } from './manifest.ts'
import type { Method } from './methods.ts'
import { findTool, type ProgramEnvironment, runTool } from './postgres-tools.ts'
import { refuseWithoutRoom } from './room.ts'
import { readFacts, serverVersion, withSession } from './session.ts'
import {
  eachOf,
  filesBelow,
  noteStored,
  type OnProgress,
  storedBytes,
  syncFolder,
  syncFolders,
} from './stored-files.ts'

export interface BackupOptions {
  /** The folder to create. */
  folder: string
  /** The URL of the database. */
  url: string
  dataDir: string
  method: Method
  /** Leaves out DATA_DIR. */
  databaseOnly: boolean
  /** Leaves out `secret.key`, without which the secrets in the backup cannot be decrypted. */
  withoutSecretKey: boolean
  /** The environment for Postgres programs. */
  env: ProgramEnvironment
  /** Can throw to stop the backup, for example with the reason of `signal`. */
  onProgress: OnProgress
  signal: AbortSignal
}

/** Where a pg_dump backup stores the database, and where a copy stores the address of its cluster. */
export const dumpFile = 'database.dump'
export const recordFile = 'postgres.json'

/**
 * Backs up a deployment while it serves requests. The folder appears complete, or not at all. Throws an Error
 * for the operator, for example if the folder already exists, or the reason of `signal` when that aborts.
 */
export async function makeBackup(options: BackupOptions): Promise<Manifest> {
  const folder = resolve(options.folder)
  refuseTaken(folder)
  mkdirSync(dirname(folder), { recursive: true })
  // Only accessible to the current user.
  const draft = mkdtempSync(join(dirname(folder), `.${basename(folder)}.`))
  const onProgress: OnProgress = (progress) => {
    options.signal.throwIfAborted()
    options.onProgress(progress)
  }
  try {
    const made = await withSession(options.url, (sql) => fill(sql, { ...options, folder: draft, onProgress }))
    writeManifest(draft, made)
    await syncFolders(draft)
    options.signal.throwIfAborted()
    refuseTaken(folder)
    renameSync(draft, folder)
    await syncFolder(dirname(folder))
    return made
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

function refuseTaken(folder: string): void {
  if (!existsSync(folder)) return
  // An empty folder may be a mount point, so a folder below it is suggested.
  const isEmpty = statSync(folder).isDirectory() && readdirSync(folder).length === 0
  const example = isEmpty ? `, such as ${join(folder, new Date().toISOString().slice(0, 10))}` : ''
  throw new Error(`${folder} already exists: name a folder that does not exist yet${example}`)
}

async function fill(sql: postgres.Sql, options: BackupOptions): Promise<Manifest> {
  const { folder, method, databaseOnly, withoutSecretKey } = options
  const version = await serverVersion(sql)
  const before = await factsOf(sql)
  const parts = dataParts.filter((part) => !(part === 'secret.key' && withoutSecretKey))
  const copyData = async () => (databaseOnly ? { parts: [], files: [] } : await copyParts(parts, options))
  const dataBytes = databaseOnly ? 0 : await bytesOfParts(parts, options.dataDir)
  const about = { format: 1 as const, release: packageJson.version, method, postgres: version }
  switch (method) {
    case 'pg_dump':
      // The size of a dump is not known in advance.
      refuseWithoutRoom(folder, dataBytes)
      return await sql.begin('isolation level repeatable read', async (tx) => {
        await tx`SET LOCAL idle_in_transaction_session_timeout = 0`
        const [snapshot] = await tx<{ id: string }[]>`SELECT pg_export_snapshot() AS id`
        const at = await factsOf(tx)
        // Journals are copied after the snapshot was taken, so they contain the rows that it lacks.
        const data = await copyData()
        const files = [...(await dump(options, version, String(snapshot?.id))), ...data.files]
        return { ...about, from: at, to: at, parts: data.parts, files }
      })
    case 'copy': {
      const { cluster, record } = embeddedCluster(options.dataDir)
      const copied = await copyCluster(sql, { ...options, cluster, furtherBytes: dataBytes })
      const to = await factsOf(sql)
      writeFileSync(join(folder, recordFile), record, { mode: 0o600, flag: 'wx' })
      const files = [...copied, await noteStored(folder, recordFile)]
      const data = await copyData()
      return { ...about, from: before, to, parts: data.parts, files: [...files, ...data.files] }
    }
    case 'pg_basebackup': {
      const tool = await findTool('pg_basebackup', version, options.env)
      refuseWithoutRoom(folder, (await clusterBytes(sql)) + dataBytes)
      options.onProgress({ doing: 'running pg_basebackup', doneBytes: 0, totalBytes: 0 })
      const target = `--pgdata=${join(folder, clusterFolder)}`
      const whole = ['--wal-method=stream', '--checkpoint=fast', '--no-manifest']
      await runTool(tool, options.url, [target, ...whole], options.signal)
      const to = await factsOf(sql)
      const files = await noteAll(options, clusterFolder)
      const data = await copyData()
      return { ...about, from: before, to, parts: data.parts, files: [...files, ...data.files] }
    }
  }
}

async function factsOf(sql: Parameters<typeof readFacts>[0]): Promise<Manifest['from']> {
  const found = await readFacts(sql)
  if (found === undefined)
    throw new Error('the database does not contain the Tollgate tables: there is nothing to back up')
  return found
}

async function dump(options: BackupOptions, version: string, snapshot: string): Promise<StoredFile[]> {
  const tool = await findTool('pg_dump', version, options.env)
  options.onProgress({ doing: 'running pg_dump', doneBytes: 0, totalBytes: 0 })
  const file = `--file=${join(options.folder, dumpFile)}`
  const form = ['--format=custom', '--no-owner', '--no-privileges', `--snapshot=${snapshot}`]
  await runTool(tool, options.url, [file, ...form], options.signal)
  return [await noteStored(options.folder, dumpFile)]
}

/**
 * The size of the cluster. Throws an Error if the cluster has tablespaces, which pg_basebackup would not put
 * into the folder.
 */
async function clusterBytes(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ bytes: string; spaces: string | null }[]>`
    SELECT (SELECT sum(pg_database_size(oid)) FROM pg_database WHERE has_database_privilege(oid, 'CONNECT')) AS bytes,
      (SELECT string_agg(spcname, ', ') FROM pg_tablespace WHERE spcname NOT IN ('pg_default', 'pg_global')) AS spaces`
  if (row?.spaces)
    throw new Error(
      `the cluster has tablespaces (${row.spaces}), which pg_basebackup stores elsewhere: omit --with to use pg_dump`,
    )
  return Number(row?.bytes ?? 0)
}

async function noteAll({ folder, onProgress }: BackupOptions, inside: string): Promise<StoredFile[]> {
  const paths = await filesBelow(join(folder, inside))
  const totalBytes = await storedBytes(join(folder, inside), paths)
  let doneBytes = 0
  const files: StoredFile[] = []
  await eachOf(paths, async (path) => {
    const noted = await noteStored(folder, `${inside}/${path}`, (bytes) => {
      doneBytes += bytes
      onProgress({ doing: 'computing checksums', doneBytes, totalBytes })
    })
    files.push(noted)
  })
  return files
}
