import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readFrame } from '../../src/journal/frame.ts'
import { listSegments, segmentName } from '../../src/journal/journal-directory.ts'
import type { Random } from './random.ts'

/**
 * Flip one bit in a frame of a journal whose process is dead. The frame is one of its last, which Postgres may not have.
 * Returns the marker of its request; undefined: there is no frame.
 */
export function flipBit(directory: string, random: Random): { marker: string | undefined } | undefined {
  const frames = listSegments(directory).flatMap((segment) => framesOf(join(directory, segmentName(segment))))
  if (frames.length === 0) return undefined
  const frame = random.pick(frames.slice(-30))
  const bytes = readFileSync(frame.path)
  const at = frame.at + random.upTo(frame.bytes - 1)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.upTo(7))
  writeFileSync(frame.path, bytes)
  const marker = frames.filter(({ id }) => id === frame.id).find((one) => one.marker !== undefined)?.marker
  return { marker }
}

interface Found {
  path: string
  at: number
  bytes: number
  id: string
  /** Only the frame that opens a request has it. */
  marker: string | undefined
}

function framesOf(path: string): Found[] {
  const bytes = readFileSync(path)
  const found: Found[] = []
  for (let at = 0; ; ) {
    const frame = readFrame(bytes, at)
    if (typeof frame === 'string') return found
    const id = bytes.toString('hex', frame.idAt, frame.idAt + 16)
    const marker = /"marker":"([^"]+)"/.exec(bytes.toString('latin1', at, at + frame.bytes))?.[1]
    found.push({ path, at, bytes: frame.bytes, id, marker })
    at += frame.bytes
  }
}
