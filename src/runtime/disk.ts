import * as fs from 'node:fs'

/**
 * The operations on files that journals use. They have the names and the behaviour of `node:fs`, which is the
 * default.
 */
export interface Disk {
  openSync(path: string, flags: string, mode?: number): number
  closeSync(fd: number): void
  readSync(fd: number, into: Buffer, offset: number, length: number, position: number): number
  writeSync(fd: number, bytes: Buffer, offset: number, length: number, position: number): number
  ftruncateSync(fd: number, length: number): void
  fdatasync(fd: number, done: (error: Error | null) => void): void
  fsync(fd: number, done: (error: Error | null) => void): void
  fstatSync(fd: number): FileStat
  statSync(path: string): FileStat
  statSync(path: string, options: { throwIfNoEntry: false }): FileStat | undefined
  existsSync(path: string): boolean
  readFileSync(path: string, encoding: 'utf8'): string
  writeFileSync(path: string, data: string | Buffer, options: { mode: number; flush?: boolean }): void
  mkdirSync(path: string, options: { recursive: true; mode: number }): unknown
  readdirSync(path: string): string[]
  readlinkSync(path: string): string
  renameSync(from: string, to: string): void
  rmSync(path: string, options?: { recursive?: boolean; force?: boolean }): void
}

export interface FileStat {
  size: number
  ino: number
  nlink: number
  mtimeMs: number
}

export const systemDisk: Disk = fs
