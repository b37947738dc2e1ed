import * as fs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ImageWriter } from './storage.ts'

/** Same as `open` of node:fs/promises. */
export type OpenFile = (path: string, flags: string, mode: number) => Promise<fs.FileHandle>

/** Writes an image to a file. The file gets its final name only when it is complete and on disk. */
export class FileWriter implements ImageWriter {
  readonly key: string
  readonly #directory: string
  readonly #path: string
  readonly #part: string
  readonly #openFile: OpenFile
  #file: fs.FileHandle | undefined
  /** The running call. `abandon` waits for it to end, because it may be about to create the file. */
  #running: Promise<void> | undefined
  #abandoned = false

  constructor({ directory, key, openFile }: { directory: string; key: string; openFile: OpenFile }) {
    this.key = key
    this.#directory = directory
    this.#path = join(directory, key)
    this.#part = `${this.#path}.part`
    this.#openFile = openFile
  }

  write(bytes: Buffer): Promise<void> {
    return this.#keeping(async () => {
      const file = await this.#opened()
      await file.writeFile(bytes)
    })
  }

  commit(): Promise<void> {
    return this.#keeping(async () => {
      const file = await this.#opened()
      await file.sync()
      await this.#close()
      await fs.rename(this.#part, this.#path)
      // The file's name is an entry in the folder of its day, which in turn is an entry in the folder above,
      // so both folders are synced.
      await syncFolder(dirname(this.#path))
      await syncFolder(this.#directory)
    })
  }

  async abandon(): Promise<void> {
    this.#abandoned = true
    await this.#running?.catch(() => {})
    const ends = [this.#close(), fs.rm(this.#part, { force: true }), fs.rm(this.#path, { force: true })]
    await Promise.allSettled(ends)
  }

  async #opened(): Promise<fs.FileHandle> {
    if (this.#file !== undefined) return this.#file
    await fs.mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
    this.#file = await this.#openFile(this.#part, 'wx', 0o600)
    return this.#file
  }

  async #close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  /** Runs one call. Its error tells the operator where and why it failed. */
  #keeping(doing: () => Promise<void>): Promise<void> {
    const running = this.#abandoned ? Promise.reject(new Error('the write was abandoned')) : doing()
    this.#running = running.catch((cause: unknown) => {
      throw new Error(`The image cannot be stored in ${this.#directory}: ${reasonOf(cause)}`, { cause })
    })
    return this.#running
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await fs.open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const code = 'code' in cause ? cause.code : undefined
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? `no space left on the disk (${cause.message})`
    : cause.message
}
