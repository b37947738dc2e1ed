import type { Schema } from '../../api/client.ts'
import { bytes, count, duration } from '../../format/numbers.ts'
import type { Tone } from '../../parts/tone.ts'

type LedgerState = Schema<'LedgerState'>

/** Below this age, rows are simply on their way. */
const freshMs = 5_000
/** A process gives a sign every few seconds. */
const silentMs = 60_000

/** How the ledger is, in a sentence. */
export function ledgerWords({
  status,
  postgres,
  unshipped,
  journal,
}: Pick<LedgerState, 'status' | 'postgres' | 'unshipped' | 'journal'>): {
  tone: Tone
  words: string
} {
  const rows =
    unshipped.rows === 1 ? '1 row waits in the journal' : `${count(unshipped.rows)} rows wait in the journal`
  const waiting =
    unshipped.rows === 0 ? 'no row waits' : `${rows}, the oldest for ${duration(unshipped.oldest_ms)}`
  if (status === 'near_bound') {
    return {
      tone: 'bad',
      words: `The journal is nearly full (${bytes(journal.bytes)} of ${bytes(journal.bytes_max)}): soon requests will be refused. Now ${waiting}.`,
    }
  }
  if (postgres === 'away')
    return { tone: 'bad', words: `Postgres does not answer. Nothing is lost: ${waiting}.` }
  if (status !== 'ready' || unshipped.oldest_ms > freshMs)
    return { tone: 'warning', words: `Postgres is behind: ${waiting}.` }
  if (unshipped.oldest_ms === 0) return { tone: 'good', words: 'Postgres has every row.' }
  return { tone: 'good', words: `Postgres has every row up to ${duration(unshipped.oldest_ms)} ago.` }
}

/** How full the journal is, in percent, and whether that is still good. */
export function journalShare({ bytes: used, bytes_max: most }: LedgerState['journal']): {
  percent: number
  tone: Tone
} {
  const percent = most === 0 ? 0 : Math.min(100, (used / most) * 100)
  return { percent, tone: percent >= 80 ? 'bad' : percent >= 50 ? 'warning' : 'good' }
}

export interface HeldFor {
  /** `less than 1 min`, `1 min to 10 min`, `1 d or longer`. */
  age: string
  count: number
  nano_usd: string
}

/** The money that requests hold, by age; ages of which there is no request are left out. */
export function heldFor({ ages }: NonNullable<LedgerState['holds']>): HeldFor[] {
  return ages.flatMap(({ under_seconds: under, count: held, nano_usd }, at) => {
    if (held === 0) return []
    const from = ages[at - 1]?.under_seconds ?? 0
    const words = (seconds: number) => duration(seconds * 1_000)
    const age =
      under === null
        ? `${words(from)} or longer`
        : from === 0
          ? `less than ${words(under)}`
          : `${words(from)} to ${words(under)}`
    return [{ age, count: held, nano_usd }]
  })
}

/** Nano-USD in digits: the sum of what is held. */
export function sumOf(held: readonly { nano_usd: string }[]): string {
  return String(held.reduce((sum, { nano_usd }) => sum + BigInt(nano_usd), 0n))
}

/** When a process was heard last. `now`: when the answer came; clocks of two machines may differ a little. */
export function signWords(heartbeatAt: string, now: number): { tone: Tone; words: string } {
  const age = Math.max(0, now - new Date(heartbeatAt).getTime())
  return age < silentMs
    ? { tone: 'good', words: age < 1_000 ? 'now' : `${duration(Math.floor(age / 1_000) * 1_000)} ago` }
    : { tone: 'warning', words: `silent for ${duration(age)}` }
}

/** What a verification of the ledger has found, or how far it is, in a sentence. */
export function verificationWords({
  state,
  holds,
  progress,
  requests,
  orphaned,
  findings,
  error,
}: Pick<
  Schema<'LedgerVerification'>,
  'state' | 'holds' | 'progress' | 'requests' | 'orphaned' | 'findings' | 'error'
>): { tone: Tone; words: string } {
  switch (state) {
    case 'running':
      return {
        tone: 'info',
        words:
          progress.of === 0
            ? 'It begins.'
            : `Step ${count(progress.done + 1)} of ${count(progress.of)}: ${progress.doing ?? 'it ends'}.`,
      }
    case 'cancelled':
      return { tone: 'warning', words: 'It was cancelled, and has found nothing out.' }
    case 'failed':
      return { tone: 'bad', words: `It failed. ${error ?? ''}`.trim() }
    case 'ended': {
      const looked = `${requests === 1 ? '1 request' : `${count(requests ?? 0)} requests`}, ${count(orphaned ?? 0)} of them orphaned`
      const broken = findings?.filter(({ differences }) => differences > 0).length ?? 0
      return holds === true
        ? { tone: 'good', words: `Every rule holds: ${looked}.` }
        : {
            tone: 'bad',
            words: `${broken === 1 ? '1 rule does' : `${count(broken)} rules do`} not hold: ${looked}. The runbook says what to do.`,
          }
    }
  }
}
