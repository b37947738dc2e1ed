import type { ByteRange } from './json-scan.ts'

/** The new bytes for one range of a body. */
export interface Edit extends ByteRange {
  bytes: Buffer
}

/**
 * Applies edits to a body. All other bytes stay unchanged. Edits must not overlap. `edits` is sorted in
 * place.
 */
export function splice<B extends Buffer>(raw: Buffer, edits: Edit[], allocate: (bytes: number) => B): B {
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

/** The parts of the spliced body, in order. They share the memory of `raw` and of the edits. */
export function pieces(raw: Buffer, edits: Edit[]): Buffer[] {
  const parts: Buffer[] = []
  let from = 0
  for (const edit of edits.sort((a, b) => a.start - b.start)) {
    parts.push(raw.subarray(from, edit.start), edit.bytes)
    from = edit.end
  }
  parts.push(raw.subarray(from))
  return parts.filter(({ length }) => length > 0)
}
