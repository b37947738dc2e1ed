import { join } from 'node:path'
import type { Clock } from '../runtime/clock.ts'
import { type Disk, systemDisk } from '../runtime/disk.ts'
import { segmentName } from './journal-directory.ts'
import { type Layout, writeLayout } from './layout.ts'

/**
 * Bytes of a journal that could not be shipped as they are, to be stored in a folder next to the journals.
 */
export interface Aside {
  instance: string
  segment: number
  /** The offset within the segment. */
  at: number
  bytes: Buffer
  /** The reason: an error from Postgres, or what is wrong with the bytes. */
  reason: string
  /**
   * The request of an orphan, because its position in the segment may have belonged to another frame before.
   */
  request?: string
  /** The layout of the frames, which then form a small journal; undefined if the bytes are not frames. */
  layout: Layout | undefined
}

/** The prefix of each folder's name; the rest is its id. */
export const setAsidePrefix = 'set-aside-'

/** Writes the folder and returns it. A second call for the same position overwrites the first. */
export function setAside(root: string, clock: Clock, aside: Aside, disk = systemDisk): string {
  const { instance, segment, at, bytes, reason, request, layout } = aside
  const folder = join(root, `${setAsidePrefix}${instance}-${request ?? `${segment}-${at}`}`)
  disk.mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (layout !== undefined) writeLayout(folder, layout, disk)
  write(disk, join(folder, layout === undefined ? 'damaged.bin' : segmentName(0)), bytes)
  const setAsideAt = new Date(clock.now()).toISOString()
  const note = { instance, segment, at, bytes: bytes.length, reason, setAsideAt }
  write(disk, join(folder, 'reason.json'), Buffer.from(`${JSON.stringify(note)}\n`))
  return folder
}

function write(disk: Disk, path: string, bytes: Buffer): void {
  disk.writeFileSync(path, bytes, { mode: 0o600, flush: true })
}
