import type { TranslationNote } from '../canonical/chat.ts'

/** The row keeps no more notes. */
export const rowNotesMax = 64
/** The paths of each action that a client may see in a header: their text is truncated long before. */
const pathsMax = 256

/**
 * The notes that a row or a header can show: a large body may have very many. The first ones, and of each
 * action the first paths.
 */
export function boundedNotes(notes: TranslationNote[]): TranslationNote[] {
  if (notes.length <= rowNotesMax) return notes
  const paths = new Map<string, Set<string>>()
  return notes.filter(({ action, path }, index) => {
    const seen = paths.get(action) ?? new Set()
    paths.set(action, seen)
    const isNew = !seen.has(path) && seen.size < pathsMax
    if (isNew) seen.add(path)
    return index < rowNotesMax || isNew
  })
}
