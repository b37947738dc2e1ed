import type { Database } from '../db/database.ts'
import { readBreakers } from './queries.ts'

/** The open breakers, as all processes see them. Every call rejects while Postgres is away. */
export interface BreakerTable {
  /** All breakers that are open or half open. */
  read(): Promise<SharedBreaker[]>
  /** When several processes open the same breaker, the opening that lasts longest counts. */
  open(channelId: string, openings: number, forMs: number, reason: string): Promise<void>
  close(channelId: string): Promise<void>
  /**
   * `claimed`: only the caller may probe the channel, for `claimMs`. `held`: another process probes it, or it is too early.
   */
  claimProbe(channelId: string, claimMs: number): Promise<'claimed' | 'held' | 'closed'>
  /** The probe still runs: extend the claim. */
  holdProbe(channelId: string, claimMs: number): Promise<void>
}

export interface SharedBreaker {
  channelId: string
  openings: number
  /** Time until it is half open; 0 or less: it is half open and needs a probe. */
  leftMs: number
  reason: string
}

const reasonCharactersMax = 200

export function breakerTable(database: Pick<Database, 'state'>): BreakerTable {
  const { state } = database
  return {
    read: () => state.ask(({ db }) => readBreakers(db)),
    async open(channelId, openings, forMs, reason) {
      const why = reason.slice(0, reasonCharactersMax).replaceAll('\0', '').toWellFormed()
      await state.ask(
        ({ sql }) =>
          sql`SELECT open_breaker(${channelId}, ${openings}::integer, ${Math.ceil(forMs)}::integer, ${why})`,
      )
    },
    async close(channelId) {
      await state.ask(({ sql }) => sql`SELECT close_breaker(${channelId})`)
    },
    async claimProbe(channelId, claimMs) {
      const [row] = await state.ask(
        ({ sql }) => sql<{ verdict: 'claimed' | 'held' | 'closed' }[]>`
          SELECT claim_breaker_probe(${channelId}, ${claimMs}::integer) AS verdict`,
      )
      return row?.verdict ?? 'held'
    },
    async holdProbe(channelId, claimMs) {
      await state.ask(({ sql }) => sql`SELECT hold_breaker_probe(${channelId}, ${claimMs}::integer)`)
    },
  }
}
