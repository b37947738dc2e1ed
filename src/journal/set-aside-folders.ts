import * as fs from 'node:fs'
import { basename, join } from 'node:path'
import { BatchReader } from './batch.ts'
import type { Charges } from './charges.ts'
import { type DamagedFrame, damagedFramesIn } from './damaged-frames.ts'
import { segmentName } from './journal-directory.ts'
import { ownLayout, readLayout } from './layout.ts'
import { type JsonRow, rowAt, rowsIn } from './read-tuples.ts'
import { setAsidePrefix } from './set-aside.ts'

/** What is known about bytes that were set aside. */
export interface SetAsideFolder {
  /** Its name in the operator's commands. */
  id: string
  folder: string
  instance: string
  segment: number
  at: number
  bytes: number
  reason: string
  setAsideAt: string
  /** Undefined if it has not been put back. */
  replayedAt: string | undefined
  content: SetAsideContent
}

export type SetAsideContent = SetAsideRow | SetAsideBody | DamagedBytes | Unreadable

/** The end of a request, together with its beginning if that is known, which makes the row complete. */
export interface SetAsideRow {
  kind: 'row'
  request: string
  row: JsonRow
  /** The row that Postgres received in its place. */
  standIn: JsonRow
  attempts: readonly JsonRow[]
  payload: JsonRow | undefined
  /** The cost charged to the account; undefined if there is none. */
  charge: SetAsideCharge | undefined
}

/** A cost, and the account and budgets to which it is charged. */
export interface SetAsideCharge {
  account: string
  key: string | null
  group: string | null
  nano: bigint
}

/** The beginning of a request whose row was shipped without this body. */
export interface SetAsideBody {
  kind: 'body'
  request: string
  /** The columns that are known at the beginning. */
  row: JsonRow
  payload: JsonRow | undefined
}

export interface DamagedBytes {
  kind: 'damaged'
  frames: readonly DamagedFrame[]
}

export interface Unreadable {
  kind: 'unreadable'
  error: string
}

const replayedPrefix = 'replayed-'
const replayedNote = 'replayed.json'

/** Everything that was set aside in `root`, oldest first, including what has since been put back. */
export function listSetAside(root: string, nowMs: number): SetAsideFolder[] {
  if (!fs.existsSync(root)) return []
  return fs
    .readdirSync(root)
    .filter((name) => isSetAside(name) || name.startsWith(replayedPrefix))
    .map((name) => readSetAside(join(root, name), nowMs))
    .sort((a, b) => (a.setAsideAt < b.setAsideAt ? -1 : 1))
}

/** Finds a frame by path, id, or the id of its request. Throws if there is none. */
export function findSetAside(root: string, name: string, nowMs: number): SetAsideFolder {
  if (fs.existsSync(join(name, 'reason.json'))) return readSetAside(name, nowMs)
  const all = listSetAside(root, nowMs)
  const found = all.filter((one) => one.id === name || requestOf(one) === name)
  const [first, second] = found
  if (first === undefined) throw new Error(`nothing was set aside as ${name} in ${root}`)
  if (second !== undefined && first.id !== name)
    throw new Error(
      `several frames of request ${name} were set aside: ${found.map(({ id }) => id).join(', ')}`,
    )
  return first
}

function requestOf({ content }: SetAsideFolder): string | undefined {
  return content.kind === 'row' || content.kind === 'body' ? content.request : undefined
}

/** True for the name of a folder whose bytes have not been put back. */
export function isSetAside(name: string): boolean {
  return name.startsWith(setAsidePrefix)
}

/** Never throws because of the folder's contents: an unreadable folder is one of the possible results. */
export function readSetAside(folder: string, nowMs: number): SetAsideFolder {
  const id = basename(folder).replace(setAsidePrefix, '').replace(replayedPrefix, '')
  const note = readNote(join(folder, 'reason.json'))
  const content = tryToRead(folder, nowMs)
  return {
    id,
    folder,
    instance: textIn(note.instance),
    segment: numberIn(note.segment),
    at: numberIn(note.at),
    bytes: numberIn(note.bytes),
    reason: textIn(note.reason),
    setAsideAt: textIn(note.setAsideAt),
    replayedAt: basename(folder).startsWith(replayedPrefix)
      ? textIn(readNote(join(folder, replayedNote)).replayedAt)
      : undefined,
    content,
  }
}

/**
 * Renames the folder, so that its name shows that the frame was put back, and stores `note` in it. Returns
 * the new folder.
 */
export function markReplayed(folder: string, replayedAt: Date, note: object): string {
  const replayed = join(
    fs.realpathSync(join(folder, '..')),
    basename(folder).replace(setAsidePrefix, replayedPrefix),
  )
  if (replayed === fs.realpathSync(folder)) return replayed
  const text = `${JSON.stringify({ replayedAt: replayedAt.toISOString(), ...note })}\n`
  fs.writeFileSync(join(folder, replayedNote), text, { mode: 0o600, flush: true })
  // The same position was set aside and put back before, and was lost again with the last commits of
  // Postgres.
  fs.rmSync(replayed, { recursive: true, force: true })
  fs.renameSync(folder, replayed)
  return replayed
}

function tryToRead(folder: string, nowMs: number): SetAsideContent {
  try {
    const damaged = join(folder, 'damaged.bin')
    if (!fs.existsSync(damaged)) return readFrames(folder)
    return { kind: 'damaged', frames: damagedFramesIn(fs.readFileSync(damaged), ownLayout, nowMs) }
  } catch (error) {
    return { kind: 'unreadable', error: error instanceof Error ? error.message : String(error) }
  }
}

function readFrames(folder: string): SetAsideContent {
  const bytes = fs.readFileSync(join(folder, segmentName(0)))
  const reader = new BatchReader({ layout: readLayout(folder), onUnknown: () => {} })
  const batch = reader.read(bytes, { segment: 0, from: 0, shipped: 0, framesMax: Number.MAX_SAFE_INTEGER })
  if (batch === undefined || batch.to < bytes.length) throw new Error('its frames cannot be read to the end')
  const [requests, payloads, attempts] = reader.copies.map(rowsIn)
  const [payload] = payloads ?? []
  const [row, second] = requests ?? []
  if (second !== undefined) throw new Error('it contains frames of several requests')
  if (row !== undefined) {
    const [standIn = {}] = reader.standIn().flatMap(rowsIn)
    const request = textIn(row.id)
    return {
      kind: 'row',
      request,
      row,
      standIn,
      attempts: attempts ?? [],
      payload,
      charge: chargeIn(batch.charges),
    }
  }
  const [opened] = [...batch.opened.values()]
  if (opened === undefined) throw new Error('it contains no frame')
  const half = rowAt(opened.source.subarray(0, opened.halfEnd), opened.halfAt, reader.layout.open)
  return { kind: 'body', request: textIn(half.row.id), row: half.row, payload }
}

function chargeIn(charges: Charges): SetAsideCharge | undefined {
  const [charge] = charges.values()
  if (charge === undefined) return undefined
  const { account, key, group, nano } = charge
  return { account, key, group, nano }
}

function readNote(path: string): Record<string, unknown> {
  try {
    return JSON.parse(fs.readFileSync(path, 'utf8')) ?? {}
  } catch {
    return {}
  }
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function numberIn(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
