import { writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type postgres from 'postgres'
import type { StoredFile } from './manifest.ts'
import { refuseWithoutRoom } from './room.ts'
import {
  copyStored,
  eachOf,
  filesBelow,
  foldersBelow,
  noteStored,
  type OnProgress,
  storedBytes,
} from './stored-files.ts'

/** The folder of a backup that contains the files of a cluster. */
export const clusterFolder = 'cluster'

export interface ClusterCopy {
  /** The folder of the running cluster. */
  cluster: string
  /** The folder of the backup. */
  folder: string
  /** The space that the rest of the backup will need. */
  furtherBytes: number
  onProgress: OnProgress
}

/**
 * Copies a running cluster as described at
 * https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP: its files between
 * pg_backup_start and pg_backup_stop, then the WAL between the two, which a replication slot retains. A
 * server that starts on the copy continues from the moment of pg_backup_stop. `sql` must be a single
 * superuser session.
 */
export async function copyCluster(
  sql: postgres.Sql,
  { cluster, folder, furtherBytes, onProgress }: ClusterCopy,
): Promise<StoredFile[]> {
  const slot = `tollgate_backup_${process.pid}_${Date.now()}`
  // The slot is temporary and ends with the session.
  await sql`SELECT pg_create_physical_replication_slot(${slot}, true, true)`
  const [begun] = await sql<{ wal: string }[]>`
    SELECT pg_walfile_name(lsn) AS wal FROM pg_backup_start('tollgate', true) AS lsn`
  const stored: StoredFile[] = []
  const target = join(folder, clusterFolder)
  const paths = await filesBelow(cluster, isCopied)
  const totalBytes = await storedBytes(cluster, paths)
  refuseWithoutRoom(folder, totalBytes + furtherBytes)
  let doneBytes = 0
  const copy = async (path: string) => {
    const copied = await copyStored(join(cluster, path), join(target, path), (bytes) => {
      doneBytes += bytes
      onProgress({ doing: 'copying the database', doneBytes, totalBytes: Math.max(totalBytes, doneBytes) })
    })
    if (copied !== undefined) stored.push({ path: `${clusterFolder}/${path}`, ...copied })
  }
  for (const path of await foldersBelow(cluster, isFolderCopied))
    await mkdir(join(target, path), { recursive: true, mode: 0o700 })
  await eachOf(
    paths.filter((path) => path !== controlFile),
    copy,
  )
  // The control file is last because it names the newest checkpoint.
  await copy(controlFile)

  const [ended] = await sql<{ label: string; spaces: string; wal: string }[]>`
    SELECT labelfile AS label, coalesce(spcmapfile, '') AS spaces, pg_walfile_name(lsn) AS wal
    FROM pg_backup_stop(false)`
  if (begun === undefined || ended === undefined)
    throw new Error('Postgres returned no result when the backup was started or stopped')
  if (ended.spaces !== '')
    throw new Error('the database has tablespaces, which a copy does not include: use pg_dump')
  const wal = (await filesBelow(join(cluster, 'pg_wal'))).filter(
    (name) => /^[0-9A-F]{24}$/.test(name) && name >= begun.wal && name <= ended.wal,
  )
  for (const edge of [begun.wal, ended.wal])
    if (!wal.includes(edge))
      throw new Error(`Postgres has removed the WAL segment ${edge}, which the backup needs: try again`)
  for (const name of wal) await copy(`pg_wal/${name}`)
  // The label tells Postgres where to begin recovery. In the running cluster, it would do harm after a crash.
  const label = `${clusterFolder}/backup_label`
  writeFileSync(join(folder, label), ended.label, { mode: 0o600, flag: 'wx' })
  return [...stored, await noteStored(folder, label)]
}

const controlFile = 'global/pg_control'

/** The contents of these folders only matter to the running server, so they are copied as empty folders. */
const emptied = /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\//
const leftOut = /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map|current_logfiles)$/

function isCopied(path: string): boolean {
  const name = basename(path)
  return !emptied.test(path) && !leftOut.test(path) && !/^(pgsql_tmp|pg_internal\.init)/.test(name)
}

function isFolderCopied(path: string): boolean {
  return !/^pg_replslot\//.test(path) && !basename(path).startsWith('pgsql_tmp')
}
