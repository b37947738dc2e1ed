import { frameHeaderBytes, headInClose, headInOpen } from './frame.ts'
import type { Layout } from './layout.ts'
import { type JsonRow, rowAt } from './read-tuples.ts'
import { momentIn, uuidText } from './tuple.ts'

/**
 * What is known about a frame whose checksum is wrong. Every member is a guess, because the flipped bit may
 * be in it.
 */
export interface DamagedFrame {
  /** The offset within the damaged bytes. */
  at: number
  bytes: number
  /** Undefined if neither an open frame nor a close frame can be recognised. */
  kind: 'open' | 'close' | undefined
  request: string | null
  tenant: string | null
  model: string | null
}

/**
 * The frames that can be recognised in bytes that are not a whole frame, in order. Requests much later than
 * `nowMs` are ruled out.
 */
export function damagedFramesIn(bytes: Buffer, layout: Layout, nowMs: number): DamagedFrame[] {
  const frames: DamagedFrame[] = []
  let at = 0
  while (at < bytes.length) {
    const frame = damagedFrameAt(bytes, at, layout, nowMs)
    frames.push(frame)
    at += frame.bytes
  }
  return frames
}

function damagedFrameAt(bytes: Buffer, at: number, layout: Layout, nowMs: number): DamagedFrame {
  const start = at + frameHeaderBytes
  const end = start < bytes.length ? start + bytes.readUInt32LE(at) : bytes.length
  // A length that leads to another possible frame or to the end is correct. Otherwise the rest counts as one
  // frame.
  const isLength = end === bytes.length || (end < bytes.length && requestAt(bytes, end, nowMs) !== undefined)
  const length = isLength && end > start ? end - at : bytes.length - at
  const found = requestAt(bytes, at, nowMs)
  if (found === undefined) return { at, bytes: length, kind: undefined, ...nothingKnown }
  const { kind, request } = found
  if (kind === 'close') return { at, bytes: length, kind, ...nothingKnown, request }
  const row = tryRow(bytes.subarray(0, at + length), start + headInOpen, layout.open)
  return {
    at,
    bytes: length,
    kind,
    request,
    tenant: textOf(row?.tenant_id),
    model: textOf(row?.requested_model),
  }
}

const nothingKnown = { request: null, tenant: null, model: null }

/** The request of the frame that may begin at `at`. Its id is at a known offset, after its length. */
function requestAt(
  bytes: Buffer,
  at: number,
  nowMs: number,
): { kind: 'open' | 'close'; request: string } | undefined {
  for (const [kind, head] of heads) {
    const lengthAt = at + frameHeaderBytes + head
    if (lengthAt + 4 + 16 > bytes.length) continue
    const ms = momentIn(bytes, lengthAt + 4)
    const isId = (bytes[lengthAt + 10] ?? 0) >> 4 === 7 && ms > firstMs && ms < nowMs + dayMs
    if (isId) return { kind, request: uuidText(bytes.subarray(lengthAt + 4, lengthAt + 20)) }
  }
  return undefined
}

const heads = [
  ['open', headInOpen],
  ['close', headInClose],
] as const
const dayMs = 86_400_000
/** No request is older than this. */
const firstMs = Date.UTC(2024, 0, 1)

function tryRow(bytes: Buffer, at: number, columns: readonly string[]): JsonRow | undefined {
  try {
    return rowAt(bytes, at, columns).row
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
