import * as fs from 'node:fs'
import { join } from 'node:path'
import { attemptColumns } from './attempt-row.ts'
import { type Column, writeColumns } from './column.ts'
import { closeColumns, openColumns } from './row.ts'
import type { TupleWriter } from './tuple.ts'

/**
 * Which columns the tuples of a journal have, by name and in their order. It stands beside the segments, so that a
 * release that knows more columns, or fewer, ships the journal all the same.
 */
export interface Layout {
  /** Of an open half, then of a close half: together a row of `requests`. */
  readonly open: readonly string[]
  readonly close: readonly string[]
  readonly attempts: readonly string[]
}

/** Of the journals that this release writes. */
export const ownLayout: Layout = {
  open: openColumns.map(({ name }) => name),
  close: closeColumns.map(({ name }) => name),
  attempts: attemptColumns.map(({ name }) => name),
}

const fileName = 'columns.json'

export function writeLayout(directory: string, layout: Layout): void {
  fs.writeFileSync(join(directory, fileName), JSON.stringify(layout), { mode: 0o600 })
}

/** Undefined where there is none: releases up to 3592f34 wrote whole tuples of columns that were always the same. */
export function readLayout(directory: string): Layout | undefined {
  const path = join(directory, fileName)
  if (!fs.existsSync(path)) return undefined
  const { open, close, attempts }: Record<string, unknown> = JSON.parse(fs.readFileSync(path, 'utf8'))
  return { open: namesOf(open), close: namesOf(close), attempts: namesOf(attempts) }
}

/** They become part of a statement. */
function namesOf(value: unknown): string[] {
  const names = Array.isArray(value) ? value.map(String) : []
  if (names.length === 0 || !names.every((name) => /^[a-z_]+$/.test(name))) {
    throw new Error(`${fileName} of a journal has no list of columns: ${JSON.stringify(value)}`)
  }
  return names
}

/** Append the columns of these names, in that order; one that this release does not know is null. */
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
