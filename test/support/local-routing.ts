import type { BreakerTable } from '../../src/routing/breaker-table.ts'
import { Breakers } from '../../src/routing/breakers.ts'
import { Rests } from '../../src/routing/rests.ts'
import type { Routing } from '../../src/routing/routing.ts'

/** What one process knows of channels, where no other is. End it. */
export function localRouting(): Routing {
  const bounds = {
    breakerFailures: 5,
    breakerOpenMs: 5_000,
    breakerOpenMsMax: 60_000,
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
  const breakers = new Breakers({ bounds, table, database, log: { info: () => {}, warn: () => {} } })
  return { breakers, rests: new Rests(bounds), retryAfterMsMax: 600_000, end: () => breakers.end() }
}
