import type { Catalog } from '../catalog/catalog.ts'
import type { Database } from '../db/database.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { BreakerBounds } from './breaker.ts'
import { type ChannelReport, reportBreakers } from './breaker-queries.ts'
import { Breakers, type BreakersOptions } from './breakers.ts'
import type { ChannelLoad } from './channel-load.ts'
import { type CooldownBounds, CredentialCooldowns } from './cooldowns.ts'
import { everyCredentialOf } from './credentials.ts'

/**
 * The state of channels and credentials that affects later requests: open breakers, cooldowns, and the number
 * of running calls.
 */
export interface Routing {
  clock: Clock
  breakers: Breakers
  cooldowns: CredentialCooldowns
  load: ChannelLoad
  /** The longest `retry-after` from an upstream that is respected. */
  retryAfterMsMax: number
  end(): void
}

export interface RoutingOptions extends Pick<BreakersOptions, 'instance' | 'clock' | 'onOpened'> {
  database: Pick<Database, 'state'>
  catalog: Pick<Catalog, 'snapshot' | 'follow'>
  bounds: BreakerBounds & CooldownBounds
  load: ChannelLoad
  log: Log
}

export function startRouting({ database, catalog, load, ...options }: RoutingOptions): Routing {
  const { bounds, clock } = options
  const { channels } = catalog.snapshot
  const cooldowns = new CredentialCooldowns(bounds, clock)
  const breakers = new Breakers({
    ...options,
    channels,
    report: (instanceId, reports) => reportBreakers(database, instanceId, reports),
    refusals: () => refusalsOf(catalog, cooldowns, clock.elapsed()),
  })
  catalog.follow((snapshot) => breakers.follow(snapshot.channels))
  return {
    clock,
    breakers,
    cooldowns,
    load,
    retryAfterMsMax: bounds.retryAfterMsMax,
    end: () => breakers.end(),
  }
}

function refusalsOf(
  { snapshot }: Pick<Catalog, 'snapshot'>,
  cooldowns: CredentialCooldowns,
  now: number,
): ChannelReport[] {
  return [...snapshot.channels].flatMap(([channelId, channel]) => {
    const refusal = cooldowns.refusalOf(channelId, everyCredentialOf(channel))
    if (refusal === undefined) return []
    const { since, reason } = refusal
    return [{ channelId, kind: 'refused', openings: 0, reason, lastsMs: now - since, leftMs: 0 }]
  })
}
