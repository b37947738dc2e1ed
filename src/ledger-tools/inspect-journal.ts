import * as fs from 'node:fs'
import { join } from 'node:path'
import { type DamagedFrame, damagedFramesIn } from '../journal/damaged-frames.ts'
import { findFrame, readFrame } from '../journal/frame.ts'
import { type FoundJournal, journalOwner, listSegments, segmentName } from '../journal/journal-directory.ts'
import { type Layout, ownLayout, readLayout } from '../journal/layout.ts'
import { viewOf } from '../journal/tuple.ts'
import type { OwnerState } from '../runtime/owner.ts'
import { shippedMark } from '../shipping/adopter.ts'

/** The contents of one journal, read without changing any file. */
export interface JournalInspection {
  instance: string
  folder: string
  owner: OwnerState
  segments: readonly { segment: number; bytes: number }[]
  bytes: number
  frames: number
  /** The number of requests whose end is in the journal. */
  rowsComplete: number
  /**
   * The number of requests that have only a beginning in the journal: they are running, or their process
   * died.
   */
  rowsOpen: number
  columns: ColumnsInspection
  /** When the whole journal had been shipped to Postgres; null if it is not marked as shipped. */
  shippedAt: string | null
  /**
   * The number of bytes at the end that are not a whole frame: one is being written, or was cut off by a
   * crash.
   */
  tailBytes: number
  damaged: readonly DamagedStretch[]
  /** Why the journal could not be read to its end; null if it could. */
  error: string | null
}

/** `own`: the columns of this release. `other`: those of another release. */
export interface ColumnsInspection {
  layout: 'own' | 'other'
  /** Columns that this release does not know. */
  unknown: readonly string[]
  /** Columns of this release that the journal lacks. */
  missing: readonly string[]
}

/** A range of bytes between whole frames. */
export interface DamagedStretch {
  segment: number
  at: number
  bytes: number
  frames: readonly DamagedFrame[]
}

/** Reads a journal, even while its process is writing it. Never throws because of the folder's contents. */
export function inspectJournal(
  { instance, directory: folder }: FoundJournal,
  nowMs: number,
): JournalInspection {
  const found: Counted = { segments: [], frames: 0, ended: 0, open: new Set(), tailBytes: 0, damaged: [] }
  let error: string | null = null
  let layout = ownLayout
  try {
    layout = readLayout(folder)
    // A segment that is deleted in the meantime has been shipped.
    const segments = listSegments(folder)
    for (const segment of segments) {
      const bytes = readIfThere(join(folder, segmentName(segment)))
      if (bytes === undefined) continue
      readSegment(found, bytes, { segment, isLast: segment === segments.at(-1), layout, nowMs })
    }
  } catch (cause) {
    error = cause instanceof Error ? cause.message : String(cause)
  }
  const mark = fs.statSync(join(folder, shippedMark), { throwIfNoEntry: false })
  return {
    instance,
    folder,
    owner: journalOwner(folder),
    segments: found.segments,
    bytes: found.segments.reduce((sum, { bytes }) => sum + bytes, 0),
    frames: found.frames,
    rowsComplete: found.ended,
    rowsOpen: found.open.size,
    columns: columnsOf(layout),
    shippedAt: mark?.mtime.toISOString() ?? null,
    tailBytes: found.tailBytes,
    damaged: found.damaged,
    error,
  }
}

interface Counted {
  segments: { segment: number; bytes: number }[]
  frames: number
  ended: number
  open: Set<string>
  tailBytes: number
  damaged: DamagedStretch[]
}

function readSegment(
  found: Counted,
  bytes: Buffer,
  { segment, isLast, layout, nowMs }: { segment: number; isLast: boolean; layout: Layout; nowMs: number },
): void {
  found.segments.push({ segment, bytes: bytes.length })
  const view = viewOf(bytes)
  let at = 0
  while (at < bytes.length) {
    const frame = readFrame(bytes, at, view)
    if (typeof frame === 'string') {
      const next = findFrame(bytes, at + 1)
      if (next < 0 && isLast && frame === 'incomplete') {
        found.tailBytes = bytes.length - at
        return
      }
      const end = next < 0 ? bytes.length : next
      const frames = damagedFramesIn(bytes.subarray(at, end), layout, nowMs)
      found.damaged.push({ segment, at, bytes: end - at, frames })
      at = end
      continue
    }
    const id = bytes.toString('latin1', frame.idAt, frame.idAt + 16)
    found.frames += 1
    if (frame.kind === 'open') found.open.add(id)
    else {
      found.open.delete(id)
      found.ended += 1
    }
    at += frame.bytes
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return fs.readFileSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function columnsOf(layout: Layout): ColumnsInspection {
  const has = namesIn(layout)
  const own = namesIn(ownLayout)
  const unknown = has.filter((name) => !own.includes(name))
  const missing = own.filter((name) => !has.includes(name))
  return { layout: unknown.length + missing.length === 0 ? 'own' : 'other', unknown, missing }
}

function namesIn({ open, close, attempts }: Layout): string[] {
  return [...open, ...close, ...attempts.map((name) => `attempts.${name}`)]
}
