import type { Database } from '../db/database.ts'
import type { Log } from '../telemetry/log.ts'
import type { BreakerBounds } from './breaker.ts'
import { breakerTable } from './breaker-table.ts'
import { Breakers } from './breakers.ts'
import { type CooldownBounds, CredentialCooldowns } from './cooldowns.ts'

/** The state that calls leave behind for later requests: open breakers of channels, and cooldowns of credentials. */
export interface Routing {
  breakers: Breakers
  cooldowns: CredentialCooldowns
  /** The longest `retry-after` of an upstream that we follow. */
  retryAfterMsMax: number
  end(): Promise<void>
}

export function startRouting(options: {
  database: Pick<Database, 'state' | 'listen'>
  bounds: BreakerBounds & CooldownBounds
  log: Log
}): Routing {
  const { database, bounds, log } = options
  const breakers = new Breakers({ bounds, table: breakerTable(database), database, log })
  return {
    breakers,
    cooldowns: new CredentialCooldowns(bounds),
    retryAfterMsMax: bounds.retryAfterMsMax,
    end: () => breakers.end(),
  }
}
