import type { BreakerTable } from '../../src/routing/breaker-table.ts'
import { Breakers } from '../../src/routing/breakers.ts'
import { ChannelLoad } from '../../src/routing/channel-load.ts'
import { CredentialCooldowns } from '../../src/routing/cooldowns.ts'
import type { Routing } from '../../src/routing/routing.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'

/** The routing of a process that has no database and no other process beside it. End it. */
export function localRouting(): Routing {
  const bounds = {
    breakerFailures: 5,
    breakerOpenMs: 5_000,
    breakerOpenMsMax: 60_000,
    breakerSilenceMs: 120_000,
    credentialRestMs: 30_000,
    retryAfterMsMax: 600_000,
  }
  const table: BreakerTable = {
    read: async () => [],
    open: async () => {},
    close: async () => {},
    claimProbe: async () => 'claimed',
    holdProbe: async () => {},
  }
  const database = { listen: () => async () => {} }
  const breakers = new Breakers({ bounds, table, database, log: silentLog })
  return {
    breakers,
    cooldowns: new CredentialCooldowns(bounds),
    load: new ChannelLoad(1_000),
    retryAfterMsMax: 600_000,
    end: () => breakers.end(),
  }
}
