import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredFile } from './manifest.ts'
import { copyStored, eachOf, filesBelow, type OnProgress, storedBytes } from './stored-files.ts'

/** Where a backup has the parts of DATA_DIR. */
export const dataFolder = 'data'

/** Of DATA_DIR a backup has these, and nothing else: pages, caches, logs and drafts are made again. */
export const dataParts = ['secret.key', 'journal', 'images', 'files', 'archive'] as const
type DataPart = (typeof dataParts)[number]

/** What the parts take now. */
export async function bytesOfParts(parts: readonly DataPart[], dataDir: string): Promise<number> {
  let bytes = 0
  for (const part of parts) bytes += await storedBytes(dataDir, await pathsOf(part, dataDir))
  return bytes
}

/** The files of a part, by their paths from DATA_DIR. None: it is not there. */
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

/** Copy the parts that are there. Writers there are not stopped: a file that is gone is left out. */
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

/** Files that are being written have these names. */
const isKept = (path: string) => !/(^|\/)\.|\.(part|draft|new|tmp)$/.test(path)
