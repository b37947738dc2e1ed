import type { Sql } from 'postgres'

/**
 * Delete kept answers that are older than the days of their tenant, also those that others continue, and have its files expire in these
 * days. A turn has the request and the answer, a file is a part of requests. New ones know the days; these were set later.
 */
export async function endKept(ask: <T>(question: (sql: Sql) => PromiseLike<T>) => Promise<T>): Promise<void> {
  for (;;) {
    const { count } = await ask(
      (sql) => sql`
        DELETE FROM kept_answers WHERE (tenant_id, id) IN (
          SELECT k.tenant_id, k.id FROM tenants t JOIN kept_answers k ON k.tenant_id = t.id
          WHERE k.created_at <= now() - make_interval(days => least(t.rows_days, t.bodies_days, t.answers_days)) LIMIT ${atOnce})`,
    )
    if (count < atOnce) break
  }
  await ask(
    (sql) => sql`
      UPDATE files f SET expires_at = f.created_at + make_interval(days => least(t.rows_days, t.bodies_days)) FROM tenants t
      WHERE t.id = f.tenant_id AND f.state = 'ready'
        AND f.expires_at > f.created_at + make_interval(days => least(t.rows_days, t.bodies_days))`,
  )
}

const atOnce = 500
