import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Of } from './sha256.ts'
import type { ArchiveStore } from './store.ts'

/** A stored file, with its expected size and checksum. */
export interface StoredPart {
  location: string
  bytes: number
  sha256: string
}

/**
 * Local copies of archive files, up to a number of bytes: the least recently used copy is deleted first. All
 * processes with this directory share the cache. A copy is named after its SHA-256, which is checked after
 * the download.
 */
export class ObjectCache {
  readonly #directory: string
  readonly #bytesMax: number
  readonly #store: Pick<ArchiveStore, 'fetch' | 'pathOf'>
  /** Downloads in progress, including those whose query has ended, so that the next query can use them. */
  readonly #coming = new Map<string, { bytes: number; whole: Promise<string> }>()
  /** How many queries of this process are using each copy. */
  readonly #used = new Map<string, number>()

  constructor(directory: string, bytesMax: number, store: Pick<ArchiveStore, 'fetch' | 'pathOf'>) {
    this.#directory = directory
    this.#bytesMax = bytesMax
    this.#store = store
  }

  /**
   * Calls `work` with a path for each part, which remains valid until `work` has ended. Rejects with a
   * MissingFileError if the store does not have a file, and with an Error if it differs from the stored file.
   * If the signal aborts during the downloads, rejects at once with the signal's reason; the current download
   * is completed, but no other begins.
   */
  async with<T>(
    parts: readonly StoredPart[],
    work: (paths: string[]) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const held: string[] = []
    try {
      const paths: string[] = []
      for (const part of parts) {
        signal.throwIfAborted()
        const inPlace = this.#store.pathOf(part.location)
        if (inPlace === undefined) {
          const name = `${part.sha256}.parquet`
          this.#used.set(name, (this.#used.get(name) ?? 0) + 1)
          held.push(name)
        }
        paths.push(inPlace ?? (await unlessAborted(this.#copyOf(part, signal), signal)))
      }
      return await work(paths)
    } finally {
      for (const name of held) {
        const users = (this.#used.get(name) ?? 1) - 1
        if (users === 0) this.#used.delete(name)
        else this.#used.set(name, users)
      }
    }
  }

  async #copyOf(part: StoredPart, signal: AbortSignal): Promise<string> {
    const path = join(this.#directory, `${part.sha256}.parquet`)
    for (;;) {
      const now = new Date()
      // Records the time of last use.
      const isThere = await utimes(path, now, now).then(
        () => true,
        () => false,
      )
      if (isThere) return path
      const coming = this.#coming.get(path)
      if (coming !== undefined) return await coming.whole
      signal.throwIfAborted()
      if (this.#hasRoomFor(part)) return await this.#begin(part, path)
      await Promise.race([...this.#coming.values()].map(({ whole }) => whole.catch(() => {})))
    }
  }

  /** True if another download can begin now, in addition to those whose queries have ended. */
  #hasRoomFor({ bytes }: StoredPart): boolean {
    const others = [...this.#coming.values()]
    const sum = others.reduce((sum, other) => sum + other.bytes, bytes)
    return others.length === 0 || (others.length < comingMax && sum <= this.#bytesMax)
  }

  #begin(part: StoredPart, path: string): Promise<string> {
    const whole = this.#fetch(part, path).finally(() => this.#coming.delete(path))
    // The query may have ended, so nobody may be waiting for the result.
    whole.catch(() => {})
    this.#coming.set(path, { bytes: part.bytes, whole })
    return whole
  }

  async #fetch({ location, bytes, sha256 }: StoredPart, path: string): Promise<string> {
    await mkdir(this.#directory, { recursive: true })
    await this.#makeRoom(bytes)
    const unfinished = `${path}.${randomBytes(4).toString('hex')}.unfinished`
    try {
      await unlessStalled(unfinished, (signal) => this.#store.fetch(location, unfinished, signal))
      if ((await sha256Of(unfinished)) !== sha256)
        throw new Error(
          `${location} in the archive is damaged: its SHA-256 differs from that of the stored file`,
        )
      await rename(unfinished, path)
    } catch (error) {
      await rm(unfinished, { force: true })
      throw error
    }
    return path
  }

  async #makeRoom(bytes: number): Promise<void> {
    const copies: { name: string; size: number; usedMs: number }[] = []
    for (const name of await readdir(this.#directory)) {
      const found = await stat(join(this.#directory, name)).catch(() => undefined)
      if (found?.isFile() === true) copies.push({ name, size: found.size, usedMs: found.mtimeMs })
    }
    let sum = copies.reduce((sum, { size }) => sum + size, bytes)
    const stale = Date.now() - unfinishedMs
    for (const { name, size, usedMs } of copies.sort((a, b) => a.usedMs - b.usedMs)) {
      // Only an old file was left by a process that died; a young one may still be being written.
      if (name.endsWith('.unfinished') && usedMs > stale) continue
      // A copy of a file that has since been rewritten to delete content is never used again, so it gets old.
      const isOld = usedMs < Date.now() - unusedMs
      if (!name.endsWith('.unfinished') && (this.#used.has(name) || (sum <= this.#bytesMax && !isOld)))
        continue
      await rm(join(this.#directory, name), { force: true })
      sum -= size
    }
  }
}

/** `work` writes the file. Its signal aborts if the file has not grown between two checks. */
async function unlessStalled(path: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stalled = new AbortController()
  let known = -1
  const look = (size: number) => {
    if (size === known) stalled.abort(new Error('the archive storage has stopped sending data'))
    known = size
  }
  const timer = setInterval(() => {
    void stat(path).then(
      ({ size }) => look(size),
      () => look(0),
    )
  }, lookMs)
  try {
    await work(stalled.signal)
  } finally {
    clearInterval(timer)
  }
}

/** Rejects when the signal aborts. Work that has begun continues. */
async function unlessAborted<T>(begun: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([begun, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** The maximum number of simultaneous downloads. */
const comingMax = 4
/** The interval between two checks of a download. */
const lookMs = 30_000
const unfinishedMs = 3_600_000
const unusedMs = 24 * 3_600_000
