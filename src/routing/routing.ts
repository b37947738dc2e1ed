import type { Database } from '../db/database.ts'
import type { Log } from '../telemetry/log.ts'
import type { BreakerBounds } from './breaker.ts'
import { breakerTable } from './breaker-table.ts'
import { Breakers } from './breakers.ts'
import type { ChannelLoad } from './channel-load.ts'
import { type CooldownBounds, CredentialCooldowns } from './cooldowns.ts'

/**
 * The state of channels and credentials for later requests: open breakers, cooldowns, and how many calls run.
 */
export interface Routing {
  breakers: Breakers
  cooldowns: CredentialCooldowns
  load: ChannelLoad
  /** The longest `retry-after` of an upstream that we follow. */
  retryAfterMsMax: number
  end(): Promise<void>
}

export function startRouting(options: {
  database: Pick<Database, 'state' | 'listen'>
  bounds: BreakerBounds & CooldownBounds
  load: ChannelLoad
  log: Log
  onOpened?: ((channel: string) => void) | undefined
}): Routing {
  const { database, bounds, load, log, onOpened } = options
  const told = onOpened === undefined ? {} : { onOpened }
  const breakers = new Breakers({ bounds, table: breakerTable(database), database, log, ...told })
  return {
    breakers,
    cooldowns: new CredentialCooldowns(bounds),
    load,
    retryAfterMsMax: bounds.retryAfterMsMax,
    end: () => breakers.end(),
  }
}
