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
import { placeCluster } from '../db/embedded.ts'
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
  /** Where a backup by pg_dump goes: a database without tables. */
  databaseUrl: string | undefined
  /** Where the cluster of a backup by pg_basebackup goes: a folder that is not there. */
  cluster: string | undefined
  /** Leaves DATA_DIR as it is. */
  databaseOnly: boolean
  env: ProgramEnvironment
  onProgress: OnProgress
  signal: AbortSignal
}

/**
 * Put a backup where nothing is. First it checks every file of the backup, and that nothing would be
 * overwritten. Throws an Error for the operator, and the reason of `signal` when that aborts: then the
 * database and DATA_DIR are as they were. After kill -9 drafts may be left: the next call removes that of
 * DATA_DIR.
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
  onProgress({ doing: 'pg_restore runs', doneBytes: 0, totalBytes: 0 })
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
        throw new Error('this backup is of a Postgres of your own: set DATABASE_URL to an empty database')
      await refuseTables(databaseUrl)
      break
    case 'copy':
      if (databaseUrl !== undefined)
        throw new Error('this backup is of the embedded database: restore it without DATABASE_URL')
      if (databaseOnly)
        throw new Error('the embedded database is a part of DATA_DIR: leave out --database-only')
      break
    case 'pg_basebackup':
      if (cluster === undefined)
        throw new Error(
          'this backup is a cluster: name its new folder with --cluster, and start Postgres on it then',
        )
      if (isTaken(cluster)) throw new Error(`${cluster} is there already: name a folder that is not`)
  }
  if (!databaseOnly && isTaken(dataDir))
    throw new Error(
      `DATA_DIR, ${resolve(dataDir)}, is not empty: move it away, or set another. Only the database is restored with --database-only`,
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
      `the database has tables already, such as ${found[0].name}: make an empty one with createdb, and name that in DATABASE_URL`,
    )
}

/** What an interrupted restore or a file system has made there does not count. */
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
  // The user of an embedded Postgres must be able to enter.
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
        `the database is restored, but ${place} was made meanwhile, as by a gateway that was started: stop it, and put what is in ${draft} in its place`,
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
    if (name.split('/').includes('..')) throw new Error(`the backup has a file outside of it: ${path}`)
    const copied = await copyStored(join(folder, path), join(to, name), (bytes) => {
      doneBytes += bytes
      onProgress({ doing: `restoring ${inside}`, doneBytes, totalBytes })
    })
    if (copied?.sha256 !== sha256) throw new Error(`the backup is damaged: ${path} has changed`)
  })
}
