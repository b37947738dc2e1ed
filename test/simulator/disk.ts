import { basename, dirname } from 'node:path'
import type { Disk, FileStat } from '../../src/runtime/disk.ts'
import type { Process, Scheduler } from './scheduler.ts'

interface File {
  kind: 'file'
  ino: number
  links: number
  /** As all processes see it. */
  bytes: Buffer
  size: number
  /** What a power failure leaves for certain. */
  durable: Buffer
  /** The pages that the next sync writes. */
  dirty: Set<number>
  /** Pages whose sync has begun, or has failed: no later sync writes them, until they are written again. */
  taken: Set<number>
  mtimeMs: number
}

interface Folder {
  kind: 'folder'
  ino: number
  entries: Map<string, File | Folder>
  durable: Map<string, File | Folder>
  /** The changes since the last sync, in order. A rename is one change of two names. */
  changes: (readonly [name: string, node: File | Folder | undefined])[][]
}

interface Descriptor {
  node: File | Folder
  owner: Process | undefined
}

/** The folder of all journals of a host. */
export const journals = '/data/journal'

const pageBytes = 512
/** The longest sync that succeeds. */
export const syncMsMax = 3

/**
 * The disk of a host. Writes go to a page cache, which survives the death of a process. After a power failure, a file has its synced
 * bytes and any of the pages written since, and a folder has its synced names and the first few of the changes since.
 */
export class SimulatedDisk implements Disk {
  readonly #scheduler: Scheduler
  readonly #descriptors = new Map<number, Descriptor>()
  readonly #root: Folder
  #nextIno = 1
  #nextFd = 3
  #boots = 1
  /** By pid. */
  readonly #processes = new Map<number, Process>()
  /** Nothing can be written. */
  isFull = false
  /** Syncs fail. */
  failsSyncs = false
  /** A fault: a sync reports success and does nothing. */
  liesAboutSyncs = false
  /** Whether each process is in a container of its own, so that nobody can see whether another one is alive. */
  hasContainers = false
  /** Called before the last name of a file is removed. */
  onUnlink: (path: string, bytes: Buffer) => void = () => {}

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
    this.#root = this.#folder()
    this.lose()
  }

  start(process: Process): void {
    this.#processes.set(process.pid, process)
  }

  /** Closes the files of a dead process. */
  end(process: Process): void {
    this.#processes.delete(process.pid)
    for (const [fd, { owner }] of this.#descriptors) if (owner === process) this.#descriptors.delete(fd)
  }

  /** All processes must have been killed before. */
  losePower(): void {
    this.#boots++
    this.#loseFolder(this.#root)
  }

  /** Replaces the disk by one that has only the folder of the journals. */
  lose(): void {
    this.#boots++
    this.isFull = false
    this.#root.entries.clear()
    this.mkdirSync(journals)
    for (let folder: File | Folder | undefined = this.#root; folder?.kind === 'folder'; ) {
      syncFolder(folder)
      ;[folder] = folder.entries.values()
    }
  }

  openSync(path: string, flags: string): number {
    this.#scheduler.step()
    const isNew = flags.startsWith('w')
    let node = this.#find(path)
    if (isNew) {
      if (flags.includes('x') && node !== undefined) throw fsError('EEXIST', 'open', path)
      if (this.isFull) throw fsError('ENOSPC', 'open', path)
      if (node === undefined) {
        node = this.#file()
        this.#link(path, node)
      } else if (node.kind === 'file') truncate(node, 0)
    }
    if (node === undefined) throw fsError('ENOENT', 'open', path)
    const fd = this.#nextFd++
    this.#descriptors.set(fd, { node, owner: this.#scheduler.current })
    return fd
  }

  closeSync(fd: number): void {
    this.#scheduler.step()
    if (!this.#descriptors.delete(fd)) throw fsError('EBADF', 'close')
  }

  readSync(fd: number, into: Buffer, offset: number, length: number, position: number): number {
    const { bytes, size } = this.#opened(fd, 'read')
    const count = Math.max(0, Math.min(length, size - position))
    if (count === 0) return 0
    bytes.copy(into, offset, position, position + count)
    return count
  }

  writeSync(fd: number, bytes: Buffer, offset: number, length: number, position: number): number {
    const file = this.#opened(fd, 'write')
    const { random } = this.#scheduler
    try {
      this.#scheduler.step()
    } catch (death) {
      // It is killed in the middle of the write.
      this.#write(file, bytes.subarray(offset, offset + random.upTo(length)), position)
      throw death
    }
    if (this.isFull) {
      this.#write(file, bytes.subarray(offset, offset + random.upTo(length - 1)), position)
      throw fsError('ENOSPC', 'write')
    }
    // A write may be short.
    const count = random.upTo(9) === 0 ? 1 + random.upTo(length - 1) : length
    this.#write(file, bytes.subarray(offset, offset + count), position)
    return count
  }

  ftruncateSync(fd: number, length: number): void {
    this.#scheduler.step()
    truncate(this.#opened(fd, 'ftruncate'), length)
  }

  fdatasync(fd: number, done: (error: Error | null) => void): void {
    const file = this.#opened(fd, 'fdatasync')
    // What is written later is not part of this sync.
    const pages = takePages(file)
    const bytes = Buffer.from(file.bytes.subarray(0, file.size))
    this.#later(done, 'fdatasync', () => settle(file, pages, bytes))
  }

  fsync(fd: number, done: (error: Error | null) => void): void {
    const node = this.#descriptors.get(fd)?.node
    if (node?.kind !== 'folder') throw fsError('EBADF', 'fsync')
    this.#later(done, 'fsync', () => {
      syncFolder(node)
    })
  }

  fstatSync(fd: number): FileStat {
    return factsOf(this.#opened(fd, 'fstat'))
  }

  statSync(path: string): FileStat
  statSync(path: string, options: { throwIfNoEntry: false }): FileStat | undefined
  statSync(path: string, options?: { throwIfNoEntry: false }): FileStat | undefined {
    const node = this.#find(path)
    if (node !== undefined) return factsOf(node)
    if (options === undefined) throw fsError('ENOENT', 'stat', path)
    return undefined
  }

  existsSync(path: string): boolean {
    return path === '/proc/self/stat' || this.#find(path) !== undefined
  }

  readFileSync(path: string): string {
    const known = this.#fromSystem(path)
    if (known !== undefined) return known
    const node = this.#find(path)
    if (node?.kind !== 'file') throw fsError('ENOENT', 'open', path)
    return node.bytes.toString('utf8', 0, node.size)
  }

  writeFileSync(
    path: string,
    data: string | Buffer,
    { flush = false }: { mode: number; flush?: boolean },
  ): void {
    // Nobody reads the ballast.
    const bytes = Buffer.from(basename(path) === 'ballast' ? '' : data)
    const fd = this.openSync(path, 'w')
    try {
      for (let at = 0; at < bytes.length; ) at += this.writeSync(fd, bytes, at, bytes.length - at, at)
      if (!flush) return
      this.#scheduler.step()
      const file = this.#opened(fd, 'fsync')
      if (this.failsSyncs) throw fsError('EIO', 'fsync')
      if (!this.liesAboutSyncs) settle(file, takePages(file), file.bytes.subarray(0, file.size))
    } finally {
      this.#descriptors.delete(fd)
    }
  }

  mkdirSync(path: string): void {
    this.#scheduler.step()
    if (path === '/' || path === '.' || this.#find(path) !== undefined) return
    this.mkdirSync(dirname(path))
    if (this.isFull) throw fsError('ENOSPC', 'mkdir', path)
    this.#link(path, this.#folder())
  }

  readdirSync(path: string): string[] {
    const node = this.#find(path)
    if (node?.kind !== 'folder') throw fsError('ENOENT', 'scandir', path)
    return this.#scheduler.random.shuffle([...node.entries.keys()])
  }

  readlinkSync(path: string): string {
    return this.#fromSystem(path) ?? ''
  }

  renameSync(from: string, to: string): void {
    this.#scheduler.step()
    const node = this.#find(from)
    if (node === undefined) throw fsError('ENOENT', 'rename', from)
    const replaced = this.#find(to)
    if (replaced?.kind === 'file') replaced.links--
    const parent = this.#parentOf(to)
    parent.entries.delete(basename(from))
    parent.entries.set(basename(to), node)
    parent.changes.push([
      [basename(from), undefined],
      [basename(to), node],
    ])
  }

  rmSync(path: string, { recursive = false, force = false } = {}): void {
    this.#scheduler.step()
    const node = this.#find(path)
    if (node === undefined) {
      if (force) return
      throw fsError('ENOENT', 'rm', path)
    }
    if (node.kind === 'file') {
      this.onUnlink(path, node.bytes.subarray(0, node.size))
      node.links--
    } else {
      if (!recursive) throw fsError('EISDIR', 'rm', path)
      for (const name of this.readdirSync(path)) this.rmSync(`${path}/${name}`, { recursive, force })
      this.#scheduler.step()
    }
    const parent = this.#parentOf(path)
    parent.entries.delete(basename(path))
    parent.changes.push([[basename(path), undefined]])
  }

  /** All segments of all journals, as all processes see them. */
  *contents(folder: Folder = this.#root): Generator<Buffer> {
    for (const [name, node] of folder.entries) {
      if (node.kind === 'folder') yield* this.contents(node)
      else if (name.endsWith('.log')) yield node.bytes.subarray(0, node.size)
    }
  }

  #fromSystem(path: string): string | undefined {
    if (!path.startsWith('/proc/')) return undefined
    const { current } = this.#scheduler
    if (path === '/proc/sys/kernel/random/boot_id') return `boot ${this.#boots}`
    if (path === '/proc/self/ns/pid') return `pid:[${this.hasContainers ? current?.pid : 1}]`
    const pid = Number(/^\/proc\/(\d+)\/stat$/.exec(path)?.[1])
    if (this.#processes.get(pid)?.isAlive !== true) throw fsError('ENOENT', 'open', path)
    return `${pid} (node) S ${'0 '.repeat(18)}${pid * 10}`
  }

  /** Ends a call that other tasks may run during. */
  #later(done: (error: Error | null) => void, syscall: string, effect: () => void): void {
    this.#scheduler.step()
    const owner = this.#scheduler.current
    const boots = this.#boots
    this.#scheduler.after(this.#scheduler.anyMs(syncMsMax), undefined, () => {
      if (boots === this.#boots && !this.failsSyncs && !this.liesAboutSyncs) effect()
      const error = this.failsSyncs ? fsError('EIO', syscall) : null
      this.#scheduler.after(0, owner, () => done(error))
    })
  }

  #write(file: File, bytes: Buffer, position: number): void {
    const end = position + bytes.length
    if (end > file.bytes.length) {
      const larger = Buffer.alloc(Math.max(end, file.bytes.length * 2, pageBytes))
      file.bytes.copy(larger, 0, 0, file.size)
      file.bytes = larger
    }
    bytes.copy(file.bytes, position)
    file.size = Math.max(file.size, end)
    file.mtimeMs = this.#scheduler.clock.now()
    for (let page = Math.floor(position / pageBytes); page * pageBytes < end; page++) {
      file.dirty.add(page)
    }
  }

  #loseFolder(folder: Folder): void {
    const { random } = this.#scheduler
    const entries = new Map(folder.durable)
    for (const change of folder.changes.slice(0, random.upTo(folder.changes.length)))
      for (const [name, node] of change) {
        if (node === undefined) entries.delete(name)
        else entries.set(name, node)
      }
    folder.entries = entries
    folder.durable = new Map(entries)
    folder.changes = []
    for (const node of entries.values()) {
      if (node.kind === 'folder') this.#loseFolder(node)
      else this.#loseFile(node)
    }
  }

  #loseFile(file: File): void {
    const { random } = this.#scheduler
    const size = random.pick([file.durable.length, file.size, Math.min(file.durable.length, file.size)])
    const bytes = Buffer.alloc(size)
    file.durable.copy(bytes)
    for (const page of new Set([...file.dirty, ...file.taken])) {
      if (random.upTo(1) === 0) continue
      const start = page * pageBytes
      file.bytes.copy(bytes, start, start, Math.min(start + pageBytes, file.size, Math.max(size, start)))
    }
    file.bytes = bytes
    file.size = size
    file.durable = Buffer.from(bytes)
    file.dirty.clear()
    file.taken.clear()
  }

  #opened(fd: number, syscall: string): File {
    const { current } = this.#scheduler
    if (current?.isAlive === false) this.#scheduler.step()
    const node = this.#descriptors.get(fd)?.node
    if (node?.kind !== 'file') throw fsError('EBADF', syscall)
    return node
  }

  #find(path: string): File | Folder | undefined {
    let node: File | Folder | undefined = this.#root
    for (const name of namesIn(path)) {
      if (node?.kind !== 'folder') return undefined
      node = node.entries.get(name)
    }
    return node
  }

  #parentOf(path: string): Folder {
    const parent = this.#find(dirname(path))
    if (parent?.kind !== 'folder') throw fsError('ENOENT', 'open', path)
    return parent
  }

  #link(path: string, node: File | Folder): void {
    const parent = this.#parentOf(path)
    parent.entries.set(basename(path), node)
    parent.changes.push([[basename(path), node]])
  }

  #file(): File {
    return {
      kind: 'file',
      ino: this.#nextIno++,
      links: 1,
      bytes: Buffer.alloc(0),
      size: 0,
      durable: Buffer.alloc(0),
      dirty: new Set(),
      taken: new Set(),
      mtimeMs: this.#scheduler.clock.now(),
    }
  }

  #folder(): Folder {
    return { kind: 'folder', ino: this.#nextIno++, entries: new Map(), durable: new Map(), changes: [] }
  }
}

const known = new Map<string, readonly string[]>()

function namesIn(path: string): readonly string[] {
  const names = known.get(path) ?? path.split('/').filter((name) => name !== '')
  known.set(path, names)
  return names
}

function takePages(file: File): number[] {
  const pages = [...file.dirty]
  for (const page of pages) file.taken.add(page)
  file.dirty.clear()
  return pages
}

/** Makes these pages durable, with the bytes that they had. */
function settle(file: File, pages: readonly number[], bytes: Buffer): void {
  const durable = Buffer.alloc(bytes.length)
  file.durable.copy(durable)
  for (const page of pages) {
    const start = page * pageBytes
    if (start < bytes.length) bytes.copy(durable, start, start, start + pageBytes)
    file.taken.delete(page)
  }
  file.durable = durable
}

function syncFolder(folder: Folder): void {
  folder.durable = new Map(folder.entries)
  folder.changes = []
}

function truncate(file: File, length: number): void {
  file.bytes.fill(0, length)
  file.size = length
}

function factsOf(node: File | Folder): FileStat {
  if (node.kind === 'folder') return { size: 0, ino: node.ino, nlink: 1, mtimeMs: 0 }
  const { size, ino, links, mtimeMs } = node
  return { size, ino, nlink: links, mtimeMs }
}

function fsError(code: string, syscall: string, path?: string): Error {
  const where = path === undefined ? {} : { path }
  return Object.assign(new Error(`${code}: simulated, ${syscall} ${path ?? ''}`), { code, syscall, ...where })
}
