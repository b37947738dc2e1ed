import { and, asc, desc, eq, sql } from '../../db/drizzle.cjs'
import { keptAnswers } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'

const { tenantId, id, keyId, protocol, model, previousId, bytes, createdAt, expiresAt } = keptAnswers
const listed = { tenantId, id, keyId, protocol, model, previousId, bytes, createdAt, expiresAt }

/** A kept answer without its content. */
export type ListedAnswer = Pick<typeof keptAnswers.$inferSelect, keyof typeof listed>

export interface AnswerPage {
  tenantId: string
  /** Only answers of this format. */
  protocol: string | undefined
  /** Only answers after this one in the order. */
  after: { createdAt: Date; id: string } | undefined
  descending: boolean
  limit: number
}

/** Returns the answers of a tenant, ordered by the time at which they were kept. */
export async function listAnswers(db: Queries, page: AnswerPage): Promise<ListedAnswer[]> {
  const { after, descending } = page
  const place =
    after === undefined
      ? undefined
      : descending
        ? sql`(${createdAt}, ${id}) < (${after.createdAt.toISOString()}::timestamptz, ${after.id})`
        : sql`(${createdAt}, ${id}) > (${after.createdAt.toISOString()}::timestamptz, ${after.id})`
  const order = descending ? desc : asc
  return await db
    .select(listed)
    .from(keptAnswers)
    .where(
      and(
        eq(tenantId, page.tenantId),
        page.protocol === undefined ? undefined : eq(protocol, page.protocol),
        place,
      ),
    )
    .orderBy(order(createdAt), order(id))
    .limit(page.limit)
}

/** Deletes an answer. Returns undefined when the tenant has no answer with this id. */
export async function dropAnswer(
  db: Queries,
  ofTenant: string,
  answerId: string,
): Promise<ListedAnswer | undefined> {
  const [row] = await db
    .delete(keptAnswers)
    .where(and(eq(tenantId, ofTenant), eq(id, answerId)))
    .returning(listed)
  return row
}
