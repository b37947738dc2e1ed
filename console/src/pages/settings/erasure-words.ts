import type { Schema } from '../../api/client.ts'
import { count } from '../../format/numbers.ts'
import type { Tone } from '../../parts/tone.ts'

export type Erasure = Schema<'Erasure'>
export type ErasureRequest = Schema<'ErasureRequest'>

export function isUnderWay({ state }: Pick<Erasure, 'state'>): boolean {
  return state === 'queued' || state === 'running' || state === 'waiting'
}

/** What goes and what stays, before it goes: docs/reference/erasure.md. */
export function erasureWords({
  tenant,
  end_user,
  what,
}: Pick<ErasureRequest, 'tenant' | 'end_user' | 'what'>): {
  goes: string
  stays: string
} {
  const whose =
    end_user === null || end_user === undefined
      ? `the tenant ${tenant}`
      : `the end user ${end_user} of ${tenant}`
  return what === 'rows'
    ? {
        goes: `Every row of the usage log of ${whose} goes, with bodies, answers, files, images, and the archive of them.`,
        stays: 'Money stays: entries, balances, budgets and sums.',
      }
    : {
        goes: `The content of ${whose} goes: bodies, answers, files, images, and what rows say of people, also in the archive.`,
        stays: 'Rows stay, with their times, models, tokens, cost and status. Money stays.',
      }
}

export function erasureState({ state, dry_run, waits_for, error }: Erasure): { tone: Tone; words: string } {
  const tone: Tone =
    error !== null ? 'warning' : state === 'succeeded' ? 'good' : state === 'cancelled' ? 'quiet' : 'info'
  const what =
    state === 'succeeded' ? (dry_run ? 'counted' : 'erased') : state === 'cancelled' ? 'stopped' : state
  if (error !== null) return { tone, words: `tries again: ${error}` }
  return { tone, words: waits_for === null ? what : `waits for ${waits_for}` }
}

/** `requests 12, payloads 12`. */
export function countsWords(counts: Erasure['counts']): string | undefined {
  const found = Object.entries(counts).filter(([, gone]) => gone > 0)
  if (found.length === 0) return undefined
  return found.map(([place, gone]) => `${place.replaceAll('_', ' ')} ${count(gone)}`).join(', ')
}
