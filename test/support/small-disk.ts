import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A real file system of a few megabytes that a test can fill to its last byte. */
export interface SmallDisk {
  path: string
  fill(): void
  /** Free the room that `fill` took. */
  free(): void
}

/** Unmounted when the test ends. Needs root, or sudo without a password. */
export function smallDisk(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-disk-'))
  asRoot('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0777`, 'tmpfs', path)
  onTestFinished(() => {
    asRoot('umount', '-l', path)
    rmSync(path, { recursive: true, force: true })
  })
  const filler = join(path, 'filler')
  return {
    path,
    fill: () => writeUntilFull(filler),
    free: () => rmSync(filler),
  }
}

function writeUntilFull(path: string): void {
  const file = openSync(path, 'a')
  try {
    // Writes of half the size follow when one fails, until the last byte is taken.
    for (let bytes = 1024 * 1024; bytes >= 1; ) {
      try {
        writeSync(file, Buffer.alloc(bytes))
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
        bytes = Math.floor(bytes / 2)
      }
    }
  } finally {
    closeSync(file)
  }
}

function asRoot(...command: string[]): void {
  const words = process.getuid?.() === 0 ? command : ['sudo', '-n', ...command]
  const [program = '', ...rest] = words
  const { status, stderr } = spawnSync(program, rest, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
}
