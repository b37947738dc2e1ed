import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'

/** Answers that an upstream keeps under an id, so that the next request or a look-up goes to the same channel. */
export interface HeldAnswers {
  /** Tells everybody, in the background. Known in this process at once. */
  remember(tenantId: string, answerId: string, channel: string): void
  /** The name of the channel; undefined when this tenant has no such answer. Rejects while Postgres is away. */
  find(tenantId: string, answerId: string): Promise<string | undefined>
  forget(tenantId: string, answerId: string): Promise<void>
}

const cachedMax = 20_000

export function heldAnswers(database: Pick<Database, 'sql'>, log: (message: string) => void): HeldAnswers {
  const cache = new LRUCache<string, string>({ max: cachedMax })
  const keyOf = (tenantId: string, answerId: string) => `${tenantId} ${answerId}`
  return {
    remember(tenantId, answerId, channel) {
      cache.set(keyOf(tenantId, answerId), channel)
      database.sql`
        INSERT INTO held_answers (tenant_id, answer_id, channel, created_at)
        VALUES (${tenantId}, ${answerId}, ${channel}, now()) ON CONFLICT DO NOTHING`.catch((error: unknown) =>
        log(`the channel of an answer could not be kept, so only this process knows it: ${String(error)}`),
      )
    },
    async find(tenantId, answerId) {
      const key = keyOf(tenantId, answerId)
      const cached = cache.get(key)
      if (cached !== undefined) return cached
      const [row] = await database.sql<{ channel: string }[]>`
        SELECT channel FROM held_answers WHERE tenant_id = ${tenantId} AND answer_id = ${answerId}`
      if (row !== undefined) cache.set(key, row.channel)
      return row?.channel
    },
    async forget(tenantId, answerId) {
      cache.delete(keyOf(tenantId, answerId))
      await database.sql`DELETE FROM held_answers WHERE tenant_id = ${tenantId} AND answer_id = ${answerId}`
    },
  }
}
