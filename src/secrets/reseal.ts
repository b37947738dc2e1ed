import type { Sql } from 'postgres'
import { readSealed, replaceSealed, type SealedColumn, sealedColumns } from './reseal-queries.ts'
import type { SecretKeeper } from './secret-key.ts'

/** The number of values in a column that were resealed, and of those that no master key opens. */
export interface Resealed {
  name: SealedColumn['name']
  resealed: number
  unreadable: number
}

/**
 * Reseals the values of former master keys with the current one, row by row, while processes run. A row that
 * changes in the meantime keeps its change. After an interruption, the next call only handles the remaining
 * rows.
 */
export async function resealAll(sql: Sql, keeper: SecretKeeper): Promise<Resealed[]> {
  const outcomes: Resealed[] = []
  for (const column of sealedColumns) outcomes.push(await resealColumn(sql, keeper, column))
  return outcomes
}

async function resealColumn(sql: Sql, keeper: SecretKeeper, column: SealedColumn): Promise<Resealed> {
  const { name, purpose } = column
  const outcome = { name, resealed: 0, unreadable: 0 }
  for (let after: string[] | undefined; ; ) {
    const page = await readSealed(sql, column, after, rowsAtOnce)
    for (const value of page) {
      const resealed = keeper.resealed(purpose, value.sealed, value.owner)
      if (resealed === 'current') continue
      if (resealed === undefined) outcome.unreadable++
      else {
        await replaceSealed(sql, column, value, resealed, keeper.keyId)
        outcome.resealed++
      }
    }
    const last = page.at(-1)
    if (last === undefined || page.length < rowsAtOnce) return outcome
    after = last.key
  }
}

/** Small because a kept answer can be many megabytes. */
const rowsAtOnce = 8
