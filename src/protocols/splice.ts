import type { Span } from './json-scan.ts'

/** New bytes for a range of a body. */
export interface Edit extends Span {
  bytes: Buffer
}

/** The body with every edit made, all other bytes as they were. Edits do not overlap; `edits` is sorted in place. */
export function splice(raw: Buffer, edits: Edit[], allocate: (bytes: number) => Buffer): Buffer {
  edits.sort((a, b) => a.start - b.start)
  let grown = 0
  for (const edit of edits) grown += edit.bytes.length - (edit.end - edit.start)
  const patched = allocate(raw.length + grown)
  let from = 0
  let to = 0
  for (const edit of edits) {
    to += raw.copy(patched, to, from, edit.start)
    to += edit.bytes.copy(patched, to)
    from = edit.end
  }
  raw.copy(patched, to, from)
  return patched
}
