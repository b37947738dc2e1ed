import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type postgres from 'postgres'
import packageJson from '../../package.json' with { type: 'json' }
import { embeddedCluster } from '../db/embedded.ts'
import { clusterFolder, copyCluster } from './copy-cluster.ts'
import { copyParts, dataParts } from './data-parts.ts'
import { type Manifest, type Method, type StoredFile, writeManifest } from './manifest.ts'
import { type Environment, findTool, runTool } from './postgres-tools.ts'
import { readFacts, serverVersion, withSession } from './session.ts'
import { filesBelow, noteStored, type OnProgress } from './stored-files.ts'

export interface BackupOptions {
  /** The folder that it makes. */
  folder: string
  /** Of the database. */
  url: string
  dataDir: string
  method: Method
  /** Leaves DATA_DIR out. */
  databaseOnly: boolean
  /** Leaves `secret.key` out: without it nobody can read the secrets of the backup. */
  withoutSecretKey: boolean
  /** For programs of Postgres. */
  env: Environment
  onProgress: OnProgress
}

/** Where a backup by pg_dump has the database, and one by copy the address of its cluster. */
export const dumpFile = 'database.dump'
export const recordFile = 'postgres.json'

/**
 * Back up a deployment while it serves. The folder appears whole, or not at all. Throws an Error for the operator, also when the
 * folder is there already.
 */
export async function makeBackup(options: BackupOptions): Promise<Manifest> {
  const folder = resolve(options.folder)
  refuseTaken(folder)
  mkdirSync(dirname(folder), { recursive: true })
  const draft = join(dirname(folder), `.${basename(folder)}.${process.pid}`)
  mkdirSync(draft, { mode: 0o700 })
  try {
    const made = await withSession(options.url, (sql) => fill(sql, { ...options, folder: draft }))
    writeManifest(draft, made)
    refuseTaken(folder)
    renameSync(draft, folder)
    return made
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

function refuseTaken(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} is there already: name a folder that is not`)
}

async function fill(sql: postgres.Sql, options: BackupOptions): Promise<Manifest> {
  const { folder, method, databaseOnly, withoutSecretKey } = options
  const version = await serverVersion(sql)
  const before = await factsOf(sql)
  const parts = dataParts.filter((part) => !(part === 'secret.key' && withoutSecretKey))
  const copyData = async () => (databaseOnly ? { parts: [], files: [] } : await copyParts(parts, options))
  const about = { format: 1 as const, release: packageJson.version, method, postgres: version }
  switch (method) {
    case 'pg_dump':
      return await sql.begin('isolation level repeatable read', async (tx) => {
        await tx`SET LOCAL idle_in_transaction_session_timeout = 0`
        const [snapshot] = await tx<{ id: string }[]>`SELECT pg_export_snapshot() AS id`
        const at = await factsOf(tx)
        // Journals first: rows that the snapshot does not have yet are in them now.
        const data = await copyData()
        const files = [...(await dump(options, version, String(snapshot?.id))), ...data.files]
        return { ...about, from: at, to: at, parts: data.parts, files }
      })
    case 'copy': {
      const { cluster, record } = embeddedCluster(options.dataDir)
      const copied = await copyCluster(sql, { ...options, cluster })
      const to = await factsOf(sql)
      writeFileSync(join(folder, recordFile), record, { mode: 0o600, flag: 'wx' })
      const files = [...copied, await noteStored(folder, recordFile)]
      const data = await copyData()
      return { ...about, from: before, to, parts: data.parts, files: [...files, ...data.files] }
    }
    case 'pg_basebackup': {
      const tool = await findTool('pg_basebackup', version, options.env)
      options.onProgress({ doing: 'pg_basebackup runs', doneBytes: 0, totalBytes: 0 })
      await runTool(tool, options.url, [
        `--pgdata=${join(folder, clusterFolder)}`,
        ...['--wal-method=stream', '--checkpoint=fast', '--no-manifest'],
      ])
      const to = await factsOf(sql)
      const files = await noteAll(folder, clusterFolder)
      const data = await copyData()
      return { ...about, from: before, to, parts: data.parts, files: [...files, ...data.files] }
    }
  }
}

async function factsOf(sql: Parameters<typeof readFacts>[0]): Promise<Manifest['from']> {
  const found = await readFacts(sql)
  if (found === undefined)
    throw new Error('the database has no tables of Tollgate: there is nothing to back up')
  return found
}

async function dump(options: BackupOptions, version: string, snapshot: string): Promise<StoredFile[]> {
  const tool = await findTool('pg_dump', version, options.env)
  options.onProgress({ doing: 'pg_dump runs', doneBytes: 0, totalBytes: 0 })
  await runTool(tool, options.url, [
    `--file=${join(options.folder, dumpFile)}`,
    ...['--format=custom', '--no-owner', '--no-privileges', `--snapshot=${snapshot}`],
  ])
  return [await noteStored(options.folder, dumpFile)]
}

async function noteAll(folder: string, inside: string): Promise<StoredFile[]> {
  const files: StoredFile[] = []
  for (const path of await filesBelow(join(folder, inside)))
    files.push(await noteStored(folder, `${inside}/${path}`))
  return files
}
