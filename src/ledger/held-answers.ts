import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'
import { inTime } from '../db/in-time.ts'
import type { Log } from '../telemetry/log.ts'

/** Answers that an upstream keeps under an id, so that the next request or a look-up goes to the same channel. */
export interface HeldAnswers {
  /** Tells everybody, in the background. Known in this process at once. */
  remember(tenantId: string, answerId: string, holder: Holder): void
  /** Undefined when this tenant has no such answer. Rejects within two seconds while Postgres is away. */
  find(tenantId: string, answerId: string): Promise<Holder | undefined>
  forget(tenantId: string, answerId: string): Promise<void>
}

/** By name, and by what names a credential without showing it; null: whichever of the channel's. */
export interface Holder {
  channel: string
  credential: string | null
}

const cachedMax = 20_000
const answerMs = 2_000

export function heldAnswers(database: Pick<Database, 'sql'>, log: Log): HeldAnswers {
  const cache = new LRUCache<string, Holder>({ max: cachedMax })
  const keyOf = (tenantId: string, answerId: string) => `${tenantId} ${answerId}`
  return {
    remember(tenantId, answerId, holder) {
      cache.set(keyOf(tenantId, answerId), holder)
      database.sql`
        INSERT INTO held_answers (tenant_id, answer_id, channel, credential, created_at)
        VALUES (${tenantId}, ${answerId}, ${holder.channel}, ${holder.credential}, now()) ON CONFLICT DO NOTHING`.catch(
        (error: unknown) =>
          log.warn(
            {},
            `the channel of an answer could not be kept, so only this process knows it: ${String(error)}`,
          ),
      )
    },
    async find(tenantId, answerId) {
      const key = keyOf(tenantId, answerId)
      const cached = cache.get(key)
      if (cached !== undefined) return cached
      const [row] = await inTime(
        database.sql<Holder[]>`
          SELECT channel, credential FROM held_answers WHERE tenant_id = ${tenantId} AND answer_id = ${answerId}`,
        answerMs,
      )
      if (row !== undefined) cache.set(key, row)
      return row
    },
    async forget(tenantId, answerId) {
      cache.delete(keyOf(tenantId, answerId))
      await inTime(
        database.sql`DELETE FROM held_answers WHERE tenant_id = ${tenantId} AND answer_id = ${answerId}`,
        answerMs,
      )
    },
  }
}
