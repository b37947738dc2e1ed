import type { ArchiverOptions } from './options.ts'
import type { Removals, Removed, RewriteReport } from './rewrite-day.ts'
import { startRewrite } from './start-archiver.ts'
import { allOf, condition, type SqlCondition } from './where.ts'

/** What to remove for some tenants, or for one of their end users. */
export interface Removal {
  what: Removed
  tenantIds: readonly string[]
  /** Null: all of the tenants' data. */
  endUser: string | null
  /** Inclusive; null means from the first row. */
  from: Date | null
  /** Exclusive. */
  to: Date
}

/**
 * Removes this data from the archived days `from` to `to`, both inclusive, in a separate process. Null if
 * another archiver is running. `signal` ends that process; a later call does the rest.
 */
export async function removeArchived(
  options: ArchiverOptions,
  { from, to }: { from: string; to: string },
  removals: readonly Removal[],
  signal?: AbortSignal,
): Promise<RewriteReport | null> {
  if (signal?.aborted === true) throw signal.reason
  const { done, stop } = startRewrite(options, { from, to, removals: conditionsOf(removals) })
  signal?.addEventListener('abort', stop, { once: true })
  try {
    return await done
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

function conditionsOf(removals: readonly Removal[]): Removals {
  const conditions: Partial<Record<Removed, SqlCondition>> = {}
  for (const { what, ...of } of removals) {
    const former = conditions[what]
    const next = matching(of)
    conditions[what] =
      former === undefined
        ? next
        : condition(`(${former.text}) OR (${next.text})`, ...former.parameters, ...next.parameters)
  }
  return conditions
}

function matching({ tenantIds, endUser, from, to }: Omit<Removal, 'what'>): SqlCondition {
  return allOf([
    condition('list_contains(?, tenant_id) AND created_at < ?', tenantIds, to),
    ...(from === null ? [] : [condition('created_at >= ?', from)]),
    ...(endUser === null ? [] : [condition('end_user = ?', endUser)]),
  ])
}
