import { join } from 'node:path'
import { systemDisk } from '../runtime/disk.ts'
import { attemptColumns } from './attempt-row.ts'
import { type Column, writeColumns } from './column.ts'
import { closeColumns, openColumns } from './row.ts'
import type { TupleWriter } from './tuple.ts'

/**
 * The names of the columns in a journal's tuples, in order. They are stored in a file next to the segments,
 * so that a release with more or fewer columns can ship the journal.
 */
export interface Layout {
  /** The columns of an open half. Together with those of a close half, they form a row of `requests`. */
  readonly open: readonly string[]
  readonly close: readonly string[]
  readonly attempts: readonly string[]
}

/** The layout that this release writes. */
export const ownLayout: Layout = {
  open: openColumns.map(({ name }) => name),
  close: closeColumns.map(({ name }) => name),
  attempts: attemptColumns.map(({ name }) => name),
}

const fileName = 'columns.json'

export function writeLayout(directory: string, layout: Layout, disk = systemDisk): void {
  const path = join(directory, fileName)
  // Nobody can read the journal without it. After a power failure it is whole, or there are no frames.
  disk.writeFileSync(`${path}.draft`, JSON.stringify(layout), { mode: 0o600, flush: true })
  disk.renameSync(`${path}.draft`, path)
}

/** `columns.json` does not contain a valid layout. */
export class LayoutError extends Error {
  override readonly name = 'LayoutError'
}

/**
 * If there is no file, returns the layout of this release, because the process died before it wrote a frame.
 */
export function readLayout(directory: string, disk = systemDisk): Layout {
  const path = join(directory, fileName)
  if (!disk.existsSync(path)) return ownLayout
  const { open, close, attempts }: Record<string, unknown> = JSON.parse(disk.readFileSync(path, 'utf8')) ?? {}
  return { open: namesOf(open), close: namesOf(close), attempts: namesOf(attempts) }
}

/** Validates the names, because they become part of a statement. */
export function namesOf(value: unknown): string[] {
  const names = Array.isArray(value) ? value.map(String) : []
  if (names.length === 0 || !names.every((name) => /^[a-z_]+$/.test(name))) {
    throw new LayoutError(
      `${fileName} of a journal does not contain a list of columns: ${JSON.stringify(value)}`,
    )
  }
  return names
}

/**
 * Appends the columns with these names, in that order. A column that this release does not know becomes null.
 */
export function writeNamed<Source>(
  out: TupleWriter,
  names: readonly string[],
  columns: readonly Column<Source>[],
  source: Source,
): void {
  out.begin(names.length, false)
  for (const name of names) {
    const known = columns.filter((column) => column.name === name)
    if (known.length === 0) out.null()
    else writeColumns(out, known, source)
  }
}
