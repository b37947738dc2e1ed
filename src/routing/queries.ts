import type { TypedQueries } from '../db/connections.ts'
import { sql } from '../db/drizzle.cjs'
import { channelBreakers } from '../db/schema.ts'

/** Every breaker that is open or waits for its probe. `leftMs`: how long it stays open, by the clock of Postgres. */
export function readBreakers(db: TypedQueries) {
  const { channelId, openings, reason, openUntil } = channelBreakers
  const leftMs = sql<number>`(extract(epoch FROM ${openUntil} - clock_timestamp()) * 1000)::float8`
  return db.select({ channelId, openings, reason, leftMs }).from(channelBreakers)
}
