import type { TranslationNote } from '../canonical/chat.ts'

/** The maximum number of notes in a row. */
export const rowNotesMax = 64
/**
 * The maximum number of paths per action that a client can see in a header. The header text is truncated long
 * before that.
 */
const pathsMax = 256

/**
 * Selects the notes that a row or a header can show, because a large body may have a great many: the first
 * notes, and the first paths of each action.
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
