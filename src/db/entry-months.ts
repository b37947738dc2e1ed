import type { Sql } from 'postgres'
import { changePartitions, type PartitionCounts } from './make-partitions.ts'

/** The result of a pass over the partitions of `entries`. */
export interface EntryPass {
  made: number
  closed: number
  pruned: number
  /** Changes whose lock was not free, because a long transaction has read or written the table. */
  postponed: number
}

/** Creates the missing monthly partitions of `entries`, for the current and the next month (UTC). */
export async function makeEntryMonths(sql: Sql): Promise<PartitionCounts> {
  const missing = await sql<{ month: string }[]>`
    SELECT g.month::date::text AS month FROM generate_series((SELECT max(ends_at) AT TIME ZONE 'UTC' FROM entry_months),
      date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month', interval '1 month') AS g (month) ORDER BY 1`
  return await changePartitions(
    missing.map(({ month }) => ({
      parent: 'entries',
      make: () => sql<{ done: boolean }[]>`SELECT make_entry_month(${month}::text::date) AS done`,
    })),
  )
}

/**
 * Makes one pass: creates missing months, closes those that ended a week ago, and prunes closed months older
 * than `retentionMonths` (0: none). Each step is one transaction that never waits long for a lock, because
 * all writers would wait behind it. Any number of processes can make a pass at once.
 */
export async function keepEntryMonths(sql: Sql, retentionMonths: number): Promise<EntryPass> {
  const pass: EntryPass = { made: 0, closed: 0, pruned: 0, postponed: 0 }
  const step = async (name: Step, month: string) => {
    const { done, postponed } = await change(sql, name, month)
    pass.postponed += postponed
    return { done: done > 0, isLocked: postponed > 0 }
  }
  const made = await makeEntryMonths(sql)
  pass.made = made.done
  pass.postponed += made.postponed

  // In order, so that all months before an open one are closed.
  for (const month of await months(sql, 'closed_at IS NULL', week)) {
    if ((await step('watch_entry_month', month)).isLocked) break
    if (!(await step('close_entry_month', month)).done) break
    pass.closed++
  }
  const late = await sql<{ month: string }[]>`
    SELECT DISTINCT d.month::text AS month FROM (
      SELECT c.month FROM entry_checkpoints c GROUP BY c.month, c.account_id HAVING count(*) > 1
    ) AS d JOIN entry_months m ON m.month = d.month AND m.closed_at IS NOT NULL`
  for (const { month } of late) await step('merge_checkpoints', month)

  if (retentionMonths === 0) return pass
  const unpruned = 'closed_at IS NOT NULL AND pruned_at IS NULL'
  for (const month of await months(sql, unpruned, `${retentionMonths} months`)) {
    if (!(await step('keep_entries_by_hand', month)).done) continue
    const { done, isLocked } = await step('prune_entry_month', month)
    if (isLocked) break
    if (done) pass.pruned++
  }
  return pass
}

const week = '7 days'

type Step =
  | 'watch_entry_month'
  | 'close_entry_month'
  | 'merge_checkpoints'
  | 'keep_entries_by_hand'
  | 'prune_entry_month'

/** Calls an SQL function from functions/, in its own transaction. */
function change(sql: Sql, step: Step, month: string): Promise<PartitionCounts> {
  const make = () => sql.unsafe<{ done: boolean }[]>(`SELECT ${step}($1::text::date) AS done`, [month])
  return changePartitions([{ parent: 'entries', make }])
}

/** The months that ended at least this long ago, oldest first. */
async function months(sql: Sql, which: string, ago: string): Promise<string[]> {
  const rows = await sql.unsafe<{ month: string }[]>(
    `SELECT month::text FROM entry_months WHERE ${which} AND ends_at < now() - $1::text::interval ORDER BY month`,
    [ago],
  )
  return rows.map(({ month }) => month)
}
