import type { Database } from '../db/database.ts'
import { inTime } from '../db/in-time.ts'

/** The open breakers, as all processes see them. Every call rejects while Postgres is away. */
export interface BreakerTable {
  /** All breakers that are open or half open. */
  read(): Promise<SharedBreaker[]>
  /** When several processes open the same breaker, the opening that lasts longest counts. */
  open(channelId: string, openings: number, forMs: number, reason: string): Promise<void>
  close(channelId: string): Promise<void>
  /** `claimed`: only the caller may probe the channel, for `claimMs`. `held`: another process probes it, or it is too early. */
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
const answerMs = 1_000

export function breakerTable(database: Pick<Database, 'sql'>): BreakerTable {
  return {
    async read() {
      const rows = await inTime(
        database.sql<{ channel_id: string; openings: number; left_ms: number; reason: string }[]>`
          SELECT channel_id, openings, reason,
            (extract(epoch FROM open_until - clock_timestamp()) * 1000)::float8 AS left_ms FROM channel_breakers`,
        answerMs,
      )
      return rows.map((row) => ({
        channelId: row.channel_id,
        openings: row.openings,
        leftMs: row.left_ms,
        reason: row.reason,
      }))
    },
    async open(channelId, openings, forMs, reason) {
      const why = reason.slice(0, reasonCharactersMax).replaceAll('\0', '').toWellFormed()
      await inTime(
        database.sql`SELECT open_breaker(${channelId}, ${openings}::integer, ${Math.ceil(forMs)}::integer, ${why})`,
        answerMs,
      )
    },
    async close(channelId) {
      await inTime(database.sql`SELECT close_breaker(${channelId})`, answerMs)
    },
    async claimProbe(channelId, claimMs) {
      const [row] = await inTime(
        database.sql<{ verdict: 'claimed' | 'held' | 'closed' }[]>`
          SELECT claim_breaker_probe(${channelId}, ${claimMs}::integer) AS verdict`,
        answerMs,
      )
      return row?.verdict ?? 'held'
    },
    async holdProbe(channelId, claimMs) {
      await inTime(database.sql`SELECT hold_breaker_probe(${channelId}, ${claimMs}::integer)`, answerMs)
    },
  }
}
