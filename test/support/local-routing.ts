import { Breakers } from '../../src/routing/breakers.ts'
import { ChannelLoad } from '../../src/routing/channel-load.ts'
import { CredentialCooldowns } from '../../src/routing/cooldowns.ts'
import type { Routing } from '../../src/routing/routing.ts'
import { type Clock, systemClock } from '../../src/runtime/clock.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'

/** The routing of a process that has no database. End it. */
export function localRouting(clock: Clock = systemClock): Routing {
  const bounds = {
    breakerFailures: 5,
    breakerOpenMs: 5_000,
    breakerOpenMsMax: 60_000,
    breakerSilenceMs: 120_000,
    credentialRestMs: 30_000,
    retryAfterMsMax: 600_000,
  }
  const instance = { id: 'a process' }
  const breakers = new Breakers({
    bounds,
    channels: new Map(),
    instance,
    report: async () => {},
    clock,
    log: silentLog,
  })
  return {
    clock,
    breakers,
    cooldowns: new CredentialCooldowns(bounds, clock),
    load: new ChannelLoad(1_000),
    retryAfterMsMax: 600_000,
    end: () => breakers.end(),
  }
}
