import type { Database } from '../db/database.ts'
import type { BreakerBounds } from './breaker.ts'
import { breakerTable } from './breaker-table.ts'
import { Breakers, type RoutingLog } from './breakers.ts'
import { type RestBounds, Rests } from './rests.ts'

/** What is known of channels and their credentials besides the catalog: which of them fail, and which must rest. */
export interface Routing {
  breakers: Breakers
  rests: Rests
  /** The longest `retry-after` of an upstream that is believed. */
  retryAfterMsMax: number
  end(): Promise<void>
}

export function startRouting(options: {
  database: Pick<Database, 'state' | 'listen'>
  bounds: BreakerBounds & RestBounds
  log: RoutingLog
}): Routing {
  const { database, bounds, log } = options
  const breakers = new Breakers({ bounds, table: breakerTable(database), database, log })
  return {
    breakers,
    rests: new Rests(bounds),
    retryAfterMsMax: bounds.retryAfterMsMax,
    end: () => breakers.end(),
  }
}
