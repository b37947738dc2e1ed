import * as fs from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../runtime/clock.ts'
import { segmentName } from './journal-directory.ts'
import { type Layout, writeLayout } from './layout.ts'

/** Bytes of a journal that could not be shipped as they are, in a folder beside the journals. */
export interface Aside {
  instance: string
  segment: number
  /** The offset in the segment. */
  at: number
  bytes: Buffer
  /** Why: the error of Postgres, or what is wrong with the bytes. */
  reason: string
  /** The request of an orphan, whose place in the segment another frame may have had before. */
  request?: string
  /** Of the frames, which then make a small journal; undefined: the bytes are not frames. */
  layout: Layout | undefined
}

/** The beginning of the name of each folder; the rest is its id. */
export const setAsidePrefix = 'set-aside-'

/** Write them. Returns the folder. A second call for the same place overwrites the first. */
export function setAside(root: string, clock: Clock, aside: Aside): string {
  const { instance, segment, at, bytes, reason, request, layout } = aside
  const folder = join(root, `${setAsidePrefix}${instance}-${request ?? `${segment}-${at}`}`)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (layout !== undefined) writeLayout(folder, layout)
  write(join(folder, layout === undefined ? 'damaged.bin' : segmentName(0)), bytes)
  const setAsideAt = new Date(clock.now()).toISOString()
  const note = { instance, segment, at, bytes: bytes.length, reason, setAsideAt }
  write(join(folder, 'reason.json'), Buffer.from(`${JSON.stringify(note)}\n`))
  return folder
}

function write(path: string, bytes: Buffer): void {
  fs.writeFileSync(path, bytes, { mode: 0o600, flush: true })
}
