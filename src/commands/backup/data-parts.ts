import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredFile } from './manifest.ts'
import { copyStored, eachOf, filesBelow, type OnProgress, storedBytes } from './stored-files.ts'

/** The folder of a backup that contains the parts of DATA_DIR. */
export const dataFolder = 'data'

/** The only parts of DATA_DIR that are backed up. Pages, caches, logs and drafts can be recreated. */
export const dataParts = ['secret.key', 'journal', 'images', 'files', 'archive'] as const
type DataPart = (typeof dataParts)[number]

/** The current size of the parts. */
export async function bytesOfParts(parts: readonly DataPart[], dataDir: string): Promise<number> {
  let bytes = 0
  for (const part of parts) bytes += await storedBytes(dataDir, await pathsOf(part, dataDir))
  return bytes
}

/** The files of a part, as paths relative to DATA_DIR. Empty if the part does not exist. */
async function pathsOf(part: DataPart, dataDir: string): Promise<string[]> {
  const place = statSync(join(dataDir, part), { throwIfNoEntry: false })
  if (place === undefined) return []
  if (place.isFile()) return [part]
  return (await filesBelow(join(dataDir, part), isKept)).map((path) => `${part}/${path}`)
}

export interface DataCopy {
  dataDir: string
  /** The folder of the backup. */
  folder: string
  onProgress: OnProgress
}

/** Copies the parts that exist. Writers are not stopped, so a file that disappears meanwhile is left out. */
export async function copyParts(
  parts: readonly DataPart[],
  { dataDir, folder, onProgress }: DataCopy,
): Promise<{ parts: string[]; files: StoredFile[] }> {
  const there = parts.filter((part) => existsSync(join(dataDir, part)))
  const stored: StoredFile[] = []
  for (const part of there) {
    const paths = await pathsOf(part, dataDir)
    const totalBytes = await storedBytes(dataDir, paths)
    let doneBytes = 0
    await eachOf(paths, async (path) => {
      const copied = await copyStored(join(dataDir, path), join(folder, dataFolder, path), (bytes) => {
        doneBytes += bytes
        onProgress({ doing: `copying ${part}`, doneBytes, totalBytes: Math.max(totalBytes, doneBytes) })
      })
      if (copied !== undefined) stored.push({ path: `${dataFolder}/${path}`, ...copied })
    })
  }
  return { parts: [...there], files: stored }
}

/** Skips the names that files have while they are being written. */
const isKept = (path: string) => !/(^|\/)\.|\.(part|draft|new|tmp)$/.test(path)
