import { LRUCache } from 'lru-cache'
import { causeOf } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import type { Log } from '../telemetry/log.ts'
import { type RefusalEvidence, rememberRefusal } from './verdict-queries.ts'

/** Stores what upstreams refuse, for all processes. */
export interface Refusals {
  /** Not awaited by any request. `channel` is the channel's name, for the log. */
  remember(refusal: RefusalEvidence & { channel: string }): void
}

/**
 * Stores refusals, at a limited rate because each write makes every process read the catalog again. If a
 * member is refused many times at once, this process writes one refusal, and none for a minute once the trait
 * is proved, because gateway.yaml may state that the offer accepts what its upstream refuses.
 */
export function rememberRefusals({ state }: Pick<Database, 'state'>, log: Log): Refusals {
  const quiet = new LRUCache<string, true>({ max: quietMax, ttl: quietMs })
  return {
    remember({ channel, ...refusal }) {
      const { channelId, upstreamModel, protocol, subject } = refusal
      const key = [channelId, protocol, subject, upstreamModel].join(' ')
      if (quiet.has(key)) return
      quiet.set(key, true)
      const fields = { channel, protocol, subject }
      state
        .ask(({ db }) => rememberRefusal(db, refusal))
        .then((proved) => {
          if (!proved) quiet.delete(key)
          else log.warn(fields, 'an upstream refuses this parameter, so translations omit it for a day')
        })
        .catch((error: unknown) => {
          quiet.delete(key)
          log.warn(fields, `cannot store the refusal of a parameter: ${String(causeOf(error))}`)
        })
    },
  }
}

const quietMax = 10_000
const quietMs = 60_000
