import type { ArchiverOptions } from './options.ts'
import type { Removals, Removed, RewriteReport } from './rewrite-day.ts'
import { startRewrite } from './start-archiver.ts'
import { allOf, condition, type SqlCondition } from './where.ts'

/** What goes of some tenants, or of one of their end users. */
export interface Removal {
  what: Removed
  tenantIds: readonly string[]
  /** Null: all of the tenants. */
  endUser: string | null
  /** Inclusive; null: from the first row on. */
  from: Date | null
  /** Exclusive. */
  to: Date
}

/**
 * Remove these from the archived days `from` to `to`, both included, in a process of its own. Null: another
 * archiver works. `signal` ends that process: a later call does what is left.
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
