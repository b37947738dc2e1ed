import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { placeCluster } from '../../db/embedded.ts'
import { clusterFolder } from './copy-cluster.ts'
import { dataFolder } from './data-parts.ts'
import { dumpFile, recordFile } from './make-backup.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { contentsOf, findTool, type ProgramEnvironment, runTool } from './postgres-tools.ts'
import { withSession } from './session.ts'
import {
  checkStored,
  copyStored,
  eachOf,
  foldersBelow,
  type OnProgress,
  syncFolders,
} from './stored-files.ts'

export interface RestoreOptions {
  /** The folder of the backup. */
  folder: string
  dataDir: string
  /** The target of a pg_dump backup: a database without tables. */
  databaseUrl: string | undefined
  /** The target of a pg_basebackup backup's cluster: a folder that does not exist yet. */
  cluster: string | undefined
  /** Leaves DATA_DIR unchanged. */
  databaseOnly: boolean
  env: ProgramEnvironment
  onProgress: OnProgress
  signal: AbortSignal
}

/**
 * Restores a backup to an empty place, after checking every file of the backup and that nothing would be
 * overwritten. Throws an Error for the operator, or the reason of `signal` when that aborts; the database and
 * DATA_DIR are then unchanged. After kill -9, drafts can be left; the next call removes the one in DATA_DIR.
 */
export async function restoreBackup(given: RestoreOptions): Promise<Manifest> {
  const options: RestoreOptions = {
    ...given,
    onProgress(progress) {
      given.signal.throwIfAborted()
      given.onProgress(progress)
    },
  }
  const manifest = readManifest(options.folder)
  await refuseUnfit(manifest, options)
  await checkFiles(manifest, options)
  const { dataDir, databaseOnly } = options
  try {
    if (!databaseOnly) await copyToDraft(manifest, options)
    await restoreDatabase(manifest, options)
  } catch (error) {
    if (!databaseOnly) rmSync(join(dataDir, draftFolder), { recursive: true, force: true })
    throw error
  }
  if (!databaseOnly) {
    moveFromDraft(dataDir)
    await syncFolders(dataDir)
  }
  return manifest
}

async function restoreDatabase(manifest: Manifest, options: RestoreOptions): Promise<void> {
  const { dataDir, folder, cluster = '' } = options
  switch (manifest.method) {
    case 'pg_dump':
      return await restoreDump(manifest, options)
    case 'copy':
      return await placeCluster(dataDir, readFileSync(join(folder, recordFile), 'utf8'), (place) =>
        copyCluster(manifest, place, options),
      )
    case 'pg_basebackup':
      try {
        return await copyCluster(manifest, cluster, options)
      } catch (error) {
        rmSync(cluster, { recursive: true, force: true })
        throw error
      }
  }
}

async function restoreDump({ postgres }: Manifest, options: RestoreOptions): Promise<void> {
  const { databaseUrl = '', folder, env, signal, onProgress } = options
  const tool = await findTool('pg_restore', postgres, env)
  onProgress({ doing: 'running pg_restore', doneBytes: 0, totalBytes: 0 })
  const dump = join(folder, dumpFile)
  const draft = mkdtempSync(join(tmpdir(), 'tollgate-restore-'))
  try {
    const contents = join(draft, 'contents')
    writeFileSync(contents, await contentsOf(tool, dump), { mode: 0o600 })
    const whole = ['--single-transaction', '--exit-on-error', `--use-list=${contents}`]
    const ofOthers = ['--no-owner', '--no-privileges', '--no-tablespaces']
    await runTool(tool, databaseUrl, [...whole, ...ofOthers, dump], signal)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const draftFolder = '.restoring'

async function refuseUnfit(
  { method }: Manifest,
  { dataDir, databaseUrl, cluster, databaseOnly }: RestoreOptions,
): Promise<void> {
  switch (method) {
    case 'pg_dump':
      if (databaseUrl === undefined)
        throw new Error('this backup was made from your own Postgres: set DATABASE_URL to an empty database')
      await refuseTables(databaseUrl)
      break
    case 'copy':
      if (databaseUrl !== undefined)
        throw new Error('this backup was made from the embedded database: restore it without DATABASE_URL')
      if (databaseOnly) throw new Error('the embedded database is part of DATA_DIR: omit --database-only')
      break
    case 'pg_basebackup':
      if (cluster === undefined)
        throw new Error(
          'this backup is a cluster: name a new folder for it with --cluster, then start Postgres on that folder',
        )
      if (isTaken(cluster))
        throw new Error(`${cluster} already exists: name a folder that does not exist yet`)
  }
  if (!databaseOnly && isTaken(dataDir))
    throw new Error(
      `DATA_DIR (${resolve(dataDir)}) is not empty: move its contents elsewhere or set another folder. To restore only the database, use --database-only`,
    )
}

async function refuseTables(url: string): Promise<void> {
  const found = await withSession(
    url,
    (sql) => sql<{ name: string }[]>`
      SELECT schemaname || '.' || tablename AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema') LIMIT 1`,
  )
  if (found[0] !== undefined)
    throw new Error(
      `the database already contains tables, such as ${found[0].name}: create an empty one with createdb and set DATABASE_URL to it`,
    )
}

/** Ignores what an interrupted restore or a file system has left there. */
function isTaken(folder: string): boolean {
  if (!existsSync(folder)) return false
  return readdirSync(folder).some((name) => name !== draftFolder && name !== 'lost+found')
}

async function checkFiles({ files }: Manifest, { folder, onProgress }: RestoreOptions): Promise<void> {
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let doneBytes = 0
  await eachOf(files, async (file) => {
    await checkStored(folder, file, (bytes) => {
      doneBytes += bytes
      onProgress({ doing: 'checking the backup', doneBytes, totalBytes })
    })
  })
}

async function copyToDraft(manifest: Manifest, options: RestoreOptions): Promise<void> {
  const { dataDir } = options
  // The user that runs the embedded Postgres needs access to the folder.
  mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  const draft = join(dataDir, draftFolder)
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  await copyFiles(manifest, dataFolder, draft, options)
}

function moveFromDraft(dataDir: string): void {
  const draft = join(dataDir, draftFolder)
  for (const name of readdirSync(draft)) {
    const place = join(dataDir, name)
    if (existsSync(place))
      throw new Error(
        `the database is restored, but ${place} was created in the meantime, perhaps by a gateway that was started: stop that gateway, then replace ${place} with the contents of ${draft}`,
      )
    renameSync(join(draft, name), place)
  }
  rmSync(draft, { recursive: true })
}

async function copyCluster(manifest: Manifest, to: string, options: RestoreOptions): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  await chmod(to, 0o700)
  for (const path of await foldersBelow(join(options.folder, clusterFolder), () => true))
    await mkdir(join(to, path), { recursive: true, mode: 0o700 })
  await copyFiles(manifest, clusterFolder, to, options)
  await syncFolders(to)
}

async function copyFiles(
  { files }: Manifest,
  inside: string,
  to: string,
  { folder, onProgress }: RestoreOptions,
): Promise<void> {
  const own = files.filter(({ path }) => path.startsWith(`${inside}/`))
  const totalBytes = own.reduce((sum, { bytes }) => sum + bytes, 0)
  let doneBytes = 0
  await eachOf(own, async ({ path, sha256 }) => {
    const name = path.slice(inside.length + 1)
    if (name.split('/').includes('..')) throw new Error(`the backup lists a file outside its folder: ${path}`)
    const copied = await copyStored(join(folder, path), join(to, name), (bytes) => {
      doneBytes += bytes
      onProgress({ doing: `restoring ${inside}`, doneBytes, totalBytes })
    })
    if (copied?.sha256 !== sha256) throw new Error(`the backup is damaged: ${path} has changed`)
  })
}
