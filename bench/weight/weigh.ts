import { generated, type Source } from '../../test/support/sources.ts'
import { median, percentile } from '../percentile.ts'
import { type FunctionLength, functionsOf } from './functions.ts'

export interface Weight {
  /** All but those of `apart`. The one with the most lines first. */
  rooms: Room[]
  /** Of `rooms`. */
  total: Room
  /** Tests and migrations. */
  apart: Room[]
  /** Those of `rooms`, the longest first. */
  functions: FunctionLength[]
  /** Those of `rooms`, the highest first. */
  fanOuts: FanOut[]
}

export interface Room {
  name: string
  files: number
  lines: number
  /** Lines of a file. */
  median: number
  p90: number
}

export interface FanOut {
  file: string
  /** How many other files of the tree it imports, also for their types alone. */
  imports: number
}

/** The folders that are weighed. */
export const folders = [
  'src',
  'workers',
  'demo',
  'verify',
  'console/src',
  'console/docs',
  'bench',
  'packaging',
  'test',
  'migrations',
]

/** The files in them that are weighed. */
export const names = /\.(tsx?|[cm]js|css|sql)$/

const apart = ['test', 'migrations']

export function weigh(sources: readonly Source[]): Weight {
  const made = sources.filter(({ file }) => file !== generated)
  const counted = made.filter(({ file }) => !apart.includes(roomOf(file)))
  const code = counted.filter(({ file }) => /\.(tsx?|[cm]js)$/.test(file))
  const own = new Set(sources.map(({ file }) => file))
  return {
    rooms: [...Map.groupBy(counted, ({ file }) => roomOf(file))]
      .map(([name, files]) => roomFrom(name, files))
      .sort((a, b) => b.lines - a.lines),
    total: roomFrom('total without tests', counted),
    apart: apart.map((name) =>
      roomFrom(
        name,
        made.filter(({ file }) => roomOf(file) === name),
      ),
    ),
    functions: code
      .flatMap(({ file, text }) => functionsOf(file, text))
      .sort((a, b) => b.lines - a.lines || a.file.localeCompare(b.file)),
    fanOuts: code
      .map(({ file, imports }) => ({ file, imports: new Set(imports.filter((path) => own.has(path))).size }))
      .sort((a, b) => b.imports - a.imports || a.file.localeCompare(b.file)),
  }
}

/** A part of src, a folder of the console, or a folder of the root. */
function roomOf(file: string): string {
  const [top = '', below, inside] = file.split('/')
  if (top !== 'src' && top !== 'console') return top
  return inside === undefined ? `${top}/*` : `${top}/${below}`
}

function roomFrom(name: string, sources: readonly Source[]): Room {
  const lengths = sources.map(({ text }) => text.trimEnd().split('\n').length)
  return {
    name,
    files: lengths.length,
    lines: lengths.reduce((sum, lines) => sum + lines, 0),
    median: lengths.length === 0 ? 0 : median(lengths),
    p90: lengths.length === 0 ? 0 : percentile(lengths, 0.9),
  }
}
