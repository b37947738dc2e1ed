import type { Database } from '../db/database.ts'
import { inTime } from '../db/in-time.ts'

/** What all processes know of the breakers that are open. Everything rejects while Postgres is away. */
export interface BreakerTable {
  /** Every breaker that is open, or waits for its probe. */
  read(): Promise<SharedBreaker[]>
  /** Of several that are told, the one that lasts longest counts. */
  open(channelId: string, openings: number, forMs: number, reason: string): Promise<void>
  close(channelId: string): Promise<void>
  /** `claimed`: the caller alone tries the channel, for so long. `held`: another does, or it is too early. */
  claimProbe(channelId: string, claimMs: number): Promise<'claimed' | 'held' | 'closed'>
  /** The probe still runs. */
  holdProbe(channelId: string, claimMs: number): Promise<void>
}

export interface SharedBreaker {
  channelId: string
  openings: number
  /** 0 or less: it waits for its probe. */
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
