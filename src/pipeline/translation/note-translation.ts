import { rowNotesMax } from '../../bodies/bounded-notes.ts'
import type { TranslationNote } from '../../canonical/chat.ts'
import { redactText } from '../../redaction/redact.ts'
import type { Candidate } from '../../routing/candidates.ts'
import type { Received } from '../received.ts'

/** Records the notes of a translation in the row, and sets a header that summarises them for the client. */
export function noteTranslation(
  { row, headers }: Pick<Received, 'row' | 'headers'>,
  target: Candidate,
  notes: readonly TranslationNote[],
): void {
  row.notes = notes.slice(0, rowNotesMax)
  headers['x-tollgate-translation'] = summaryOf(target, notes)
}

/**
 * Adds what the answer lost to the notes of its translation. The header is updated too, unless the answer has
 * already begun, as it has in a stream.
 */
export function noteLosses(
  received: Pick<Received, 'row' | 'headers'>,
  target: Candidate,
  losses: readonly TranslationNote[] | undefined,
): void {
  if (losses === undefined) return
  noteTranslation(received, target, [...losses, ...(received.row.notes ?? [])])
}

const summaryCharactersMax = 512

/** The target's protocol and the changed paths by action, with losses first. */
function summaryOf(target: Candidate, notes: readonly TranslationNote[]): string {
  const parts = [target.protocol as string]
  for (const action of ['dropped', 'emulated', 'clamped', 'defaulted', 'mapped'] as const) {
    const paths = notes.filter((note) => note.action === action).map((note) => note.path)
    if (paths.length > 0) parts.push(`${action}=${[...new Set(paths)].join(',')}`)
  }
  const text = redactText(parts.join('; ')).replace(/[^\x20-\x7e]/g, '?')
  return text.length <= summaryCharactersMax ? text : `${text.slice(0, summaryCharactersMax - 3)}...`
}
