import type { Sql } from 'postgres'
import { isLocked } from './failures.ts'

/** A change of partitions, and the table that it locks. */
export interface PartitionChange {
  parent: string
  /** One transaction, which raises 55P03 if a lock is not free soon. Returns whether it changed anything. */
  make(): PromiseLike<readonly { done: boolean }[]>
}

export interface PartitionCounts {
  done: number
  /** Changes whose lock was not free, because a long transaction has read or written the table. */
  postponed: number
}

/**
 * Creates the missing daily partitions of the usage log: for today, for the days ahead, and for rows without
 * a partition. Until their partition is created, rows are stored in the DEFAULT partition.
 */
export async function makePartitions(sql: Sql, daysAhead: number): Promise<PartitionCounts> {
  const missing = await sql<{ parent: string; day: string }[]>`
    SELECT parent, day::text FROM missing_partitions(${daysAhead}::integer)`
  return await changePartitions(
    missing.map(({ parent, day }) => ({
      parent,
      make: () => sql<{ done: boolean }[]>`SELECT make_partition(${parent}, ${day}::date) AS done`,
    })),
  )
}

/**
 * Makes each change in its own transaction. While a change waits for its lock, all writers of the table wait
 * too, so a table whose lock is not free is left for the next pass.
 */
export async function changePartitions(changes: readonly PartitionChange[]): Promise<PartitionCounts> {
  const locked = new Set<string>()
  const counts = { done: 0, postponed: 0 }
  for (const { parent, make } of changes) {
    if (!locked.has(parent)) {
      const changed = await ifUnlocked(make)
      if (changed === undefined) locked.add(parent)
      else if (changed) counts.done++
    }
    if (locked.has(parent)) counts.postponed++
  }
  return counts
}

/** Undefined if a lock was not free. */
async function ifUnlocked(make: PartitionChange['make']): Promise<boolean | undefined> {
  try {
    return (await make()).some(({ done }) => done)
  } catch (error) {
    if (isLocked(error)) return undefined
    throw error
  }
}
