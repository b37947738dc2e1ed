import { LRUCache } from 'lru-cache'
import { causeOf } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { redactText } from '../redaction/redact.ts'
import type { Log } from '../telemetry/log.ts'
import { addHeldAnswer, deleteHeldAnswer, findHolder, type Holder } from './held-answer-queries.ts'

/**
 * Finds the channel that holds an answer, by the answer's id: the next request or a look-up must be sent to
 * that channel.
 */
export interface HeldAnswers {
  /** Known to this process at once, and to other processes once it is stored in Postgres. */
  remember(tenantId: string, answerId: string, holder: Holder): void
  /** Whether this process knows its channel without asking Postgres. */
  isKnown(tenantId: string, answerId: string): boolean
  /** Undefined if this tenant has no such answer. Rejects within two seconds while Postgres is down. */
  find(tenantId: string, answerId: string): Promise<Holder | undefined>
  forget(tenantId: string, answerId: string): Promise<void>
}

export type { Holder }

const cachedMax = 20_000
const withinMs = 2_000

export function heldAnswers({ answers }: Pick<Database, 'answers'>, log: Log): HeldAnswers {
  const cache = new LRUCache<string, Holder>({ max: cachedMax })
  const keyOf = (tenantId: string, answerId: string) => `${tenantId} ${answerId}`
  return {
    remember(tenantId, answerId, holder) {
      cache.set(keyOf(tenantId, answerId), holder)
      // The upstream chooses the id. An id that looks like a secret is never stored.
      if (redactText(answerId) !== answerId) return
      answers
        .ask(({ db }) => addHeldAnswer(db, tenantId, answerId, holder))
        .catch((error: unknown) =>
          log.warn(
            {},
            `the channel of an answer could not be stored, so only this process knows it: ${String(causeOf(error))}`,
          ),
        )
    },
    isKnown: (tenantId, answerId) => cache.has(keyOf(tenantId, answerId)),
    async find(tenantId, answerId) {
      const key = keyOf(tenantId, answerId)
      const cached = cache.get(key)
      if (cached !== undefined) return cached
      const found = await answers.ask(({ db }) => findHolder(db, tenantId, answerId), { withinMs })
      if (found !== undefined) cache.set(key, found)
      return found
    },
    async forget(tenantId, answerId) {
      cache.delete(keyOf(tenantId, answerId))
      await answers.ask(({ db }) => deleteHeldAnswer(db, tenantId, answerId), { withinMs })
    },
  }
}
