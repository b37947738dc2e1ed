import { createHash } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { StoredFile } from './manifest.ts'

/** The progress so far, in bytes. `totalBytes` can increase while files grow. */
export interface CopyProgress {
  doing: string
  doneBytes: number
  totalBytes: number
}
export type OnProgress = (progress: CopyProgress) => void

/**
 * The files below a folder, as sorted relative paths. Entries of other types are left out, as are files that
 * disappear meanwhile.
 */
export async function filesBelow(
  folder: string,
  keeps: (path: string) => boolean = () => true,
): Promise<string[]> {
  const found: string[] = []
  const walk = async (inside: string) => {
    for (const entry of (await entriesOf(join(folder, inside))).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = inside === '' ? entry.name : `${inside}/${entry.name}`
      if (!keeps(path)) continue
      if (entry.isDirectory()) await walk(path)
      else if (entry.isFile()) found.push(path)
    }
  }
  await walk('')
  return found
}

/** The folders below a folder, outer ones first. Postgres also needs the empty ones. */
export async function foldersBelow(folder: string, keeps: (path: string) => boolean): Promise<string[]> {
  const found: string[] = []
  const walk = async (inside: string) => {
    for (const entry of await entriesOf(join(folder, inside))) {
      const path = inside === '' ? entry.name : `${inside}/${entry.name}`
      if (!entry.isDirectory() || !keeps(path)) continue
      found.push(path)
      await walk(path)
    }
  }
  await walk('')
  return found.sort()
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return (await unlessGone(readdir(folder, { withFileTypes: true }))) ?? []
}

export async function storedBytes(folder: string, paths: readonly string[]): Promise<number> {
  let bytes = 0
  for (const path of paths) bytes += (await unlessGone(stat(join(folder, path))))?.size ?? 0
  return bytes
}

/**
 * Copies a file to an unused path and syncs it. Undefined if the file no longer exists. If a file grows
 * during the copy, part of the added data may be missing.
 */
export async function copyStored(
  from: string,
  to: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<Omit<StoredFile, 'path'> | undefined> {
  const source = await unlessGone(open(from, 'r'))
  if (source === undefined) return undefined
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    const target = await open(to, 'wx', 0o600)
    try {
      const hash = createHash('sha256')
      const bytes = await eachPiece(source, async (piece) => {
        hash.update(piece)
        await target.writeFile(piece)
        onBytes(piece.length)
      })
      await target.datasync()
      return { bytes, sha256: hash.digest('hex') }
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Throws an Error that names the file if it does not match the manifest. */
export async function checkStored(
  folder: string,
  { path, bytes, sha256 }: StoredFile,
  onBytes: (bytes: number) => void = () => {},
): Promise<void> {
  const file = await unlessGone(open(join(folder, path), 'r'))
  if (file === undefined) throw new Error(`the backup is damaged: ${path} is missing`)
  try {
    const hash = createHash('sha256')
    const read = await eachPiece(file, async (piece) => {
      hash.update(piece)
      onBytes(piece.length)
    })
    if (read !== bytes)
      throw new Error(
        `the backup is damaged: ${path} has the wrong size: expected ${bytes} bytes, got ${read}`,
      )
    if (hash.digest('hex') !== sha256)
      throw new Error(`the backup is damaged: ${path} does not match its checksum`)
  } finally {
    await file.close()
  }
}

/**
 * Returns the checksum of a file that another program has written, and makes the file unreadable to other
 * users.
 */
export async function noteStored(
  folder: string,
  path: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<StoredFile> {
  const file = await open(join(folder, path), 'r')
  try {
    await file.chmod(0o600)
    const hash = createHash('sha256')
    const bytes = await eachPiece(file, async (piece) => {
      hash.update(piece)
      onBytes(piece.length)
    })
    await file.datasync()
    return { path, bytes, sha256: hash.digest('hex') }
  } finally {
    await file.close()
  }
}

/**
 * Syncs a folder and all folders below it. Otherwise a power failure could lose the names of synced files.
 */
export async function syncFolders(folder: string): Promise<void> {
  for (const path of ['.', ...(await foldersBelow(folder, () => true))]) await syncFolder(join(folder, path))
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } catch (error) {
    // Some network file systems cannot sync folders.
    if (!(error instanceof Error && 'code' in error && error.code === 'EINVAL')) throw error
  } finally {
    await handle.close()
  }
}

/**
 * Works on several items at once, because a disk can sync several files in the time of one. After an error no
 * further item is begun; the error is thrown when the running ones have ended.
 */
export async function eachOf<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all].reverse()
  const lane = async () => {
    try {
      for (let one = left.pop(); one !== undefined; one = left.pop()) await work(one)
    } catch (error) {
      left.length = 0
      throw error
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: lanes }, lane))
  for (const each of ended) if (each.status === 'rejected') throw each.reason
}

const lanes = 8
const pieceBytes = 1024 * 1024

async function eachPiece(file: FileHandle, take: (piece: Buffer) => Promise<void>): Promise<number> {
  const buffer = Buffer.allocUnsafe(pieceBytes)
  let bytes = 0
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, pieceBytes)
    if (bytesRead === 0) return bytes
    await take(buffer.subarray(0, bytesRead))
    bytes += bytesRead
  }
}

/** Undefined if the file does not exist. */
async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
