import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { FileWriter, type OpenFile } from './file-writer.ts'
import { dayOf, isDay, isKey, newKey } from './key.ts'
import type { ImageStorage, StoredImage } from './storage.ts'

export interface FileStorageOptions {
  /** Created if it does not exist. */
  directory: string
  /** Opens the file of an image. The default is `open` of the file system. */
  openFile?: OpenFile
}

/**
 * Stores images as files: `<directory>/YYYY-MM-DD/<32 hex digits>`, with the suffix `.part` until they are
 * complete.
 */
export function fileStorage({ directory, openFile = fs.open }: FileStorageOptions): ImageStorage {
  return {
    isShared: false,
    create: () => new FileWriter({ directory, key: newKey(new Date()), openFile }),
    open: async (key) => (isKey(key) ? await openStored(join(directory, key)) : undefined),
    remove: async (key) => {
      if (!isKey(key)) return
      await unlessGone(fs.unlink(join(directory, key)))
      // Left by a writer that was killed.
      await fs.rm(join(directory, `${key}.part`), { force: true })
    },
    removeBefore: (moment) => removeBefore(directory, dayOf(moment)),
    check: () => check(directory, openFile),
    close: async () => {},
  }
}

async function openStored(path: string): Promise<StoredImage | undefined> {
  const file = await unlessGone(fs.open(path))
  if (file === undefined) return undefined
  try {
    const { size } = await file.stat()
    return { bytes: size, stream: file.createReadStream() }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function removeBefore(directory: string, firstKept: string): Promise<number> {
  const names = (await unlessGone(fs.readdir(directory))) ?? []
  const days = names.filter(isDay)
  let removed = 0
  for (const probe of names.filter((name) => name.startsWith(probePrefix))) {
    const made = await unlessGone(fs.stat(join(directory, probe)))
    if (made !== undefined && dayOf(made.mtime) < firstKept)
      await fs.rm(join(directory, probe), { force: true })
  }
  for (const day of days.filter((name) => name < firstKept)) removed += await removeDay(join(directory, day))
  return removed
}

/**
 * Another process may be deleting the same day, so each process counts only the files that it deleted itself.
 */
async function removeDay(path: string): Promise<number> {
  let removed = 0
  for (const name of (await unlessGone(fs.readdir(path))) ?? []) {
    const gone = await unlessGone(fs.unlink(join(path, name)).then(() => true))
    if (gone === true) removed += 1
  }
  await fs.rmdir(path).catch((error: unknown) => {
    // A process whose clock is far behind has started an image on this day. The next run deletes it.
    if (!isCode(error, 'ENOENT') && !isCode(error, 'ENOTEMPTY')) throw error
  })
  return removed
}

/** Creates the key of a check's file. If a check is killed, it leaves its file, which retention deletes. */
const probePrefix = '.check-'

async function check(directory: string, openFile: OpenFile): Promise<void> {
  const probe = join(directory, `${probePrefix}${randomBytes(8).toString('hex')}`)
  try {
    await fs.mkdir(directory, { recursive: true, mode: 0o700 })
    const file = await openFile(probe, 'wx', 0o600)
    try {
      await file.writeFile('x')
      await file.sync()
    } finally {
      await file.close()
      await fs.rm(probe, { force: true })
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Images cannot be stored in ${directory}: ${why}`, { cause })
  }
}

/** Returns undefined if the file or folder does not exist. */
async function unlessGone<T>(doing: Promise<T>): Promise<T | undefined> {
  try {
    return await doing
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

const isCode = (error: unknown, code: string) =>
  error instanceof Error && 'code' in error && error.code === code
