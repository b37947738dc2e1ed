import type { Sql } from 'postgres'
import { isLocked } from './failures.ts'

/** A change of partitions, and the table that it locks. */
export interface PartitionChange {
  parent: string
  /**
   * One transaction that raises 55P03 when a lock is not free soon. It answers whether it changed anything.
   */
  make(): PromiseLike<readonly { done: boolean }[]>
}

export interface PartitionCounts {
  done: number
  /** Changes whose lock was not free, because a long transaction has read or written the table. */
  postponed: number
}

/**
 * Make the daily partitions of the usage log that are missing: of today, of the days ahead, and of rows
 * without one. Until their partition is made, rows go to the DEFAULT partition.
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
 * Make each change in a transaction of its own. All writers of a table wait while a change waits for its
 * lock, so a table whose lock was not free is left for the next pass.
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

/** Undefined: a lock was not free. */
async function ifUnlocked(make: PartitionChange['make']): Promise<boolean | undefined> {
  try {
    return (await make()).some(({ done }) => done)
  } catch (error) {
    if (isLocked(error)) return undefined
    throw error
  }
}
