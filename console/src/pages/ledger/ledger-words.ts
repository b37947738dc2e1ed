import type { Schema } from '../../api/client.ts'
import { bytes, count, duration } from '../../format/numbers.ts'
import type { Tone } from '../../parts/tones.ts'

/** Below this age, rows are simply on their way. */
const freshMs = 5_000

/** How the ledger is, in a sentence. */
export function ledgerWords({
  status,
  postgres,
  unshipped,
  journal,
}: Pick<Schema<'LedgerState'>, 'status' | 'postgres' | 'unshipped' | 'journal'>): {
  tone: Tone
  words: string
} {
  const waiting = `${count(unshipped.rows)} rows wait in the journal, the oldest for ${duration(unshipped.oldest_ms)}`
  if (status === 'near_bound') {
    return {
      tone: 'bad',
      words: `The journal is nearly full (${bytes(journal.bytes)} of ${bytes(journal.bytes_max)}): soon requests will be refused. ${waiting}.`,
    }
  }
  if (postgres === 'away')
    return { tone: 'bad', words: `Postgres does not answer. Nothing is lost: ${waiting}.` }
  if (status !== 'ready' || unshipped.oldest_ms > freshMs)
    return { tone: 'warning', words: `Postgres is behind: ${waiting}.` }
  if (unshipped.rows === 0) return { tone: 'good', words: 'Postgres has every row.' }
  return { tone: 'good', words: `Postgres has every row up to ${duration(unshipped.oldest_ms)} ago.` }
}
