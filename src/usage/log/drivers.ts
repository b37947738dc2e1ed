import { isReason, reasons } from '../../canonical/reasons/catalogue.ts'
import type { Condition, LogColumn, LogFilter } from './row-tests.ts'

/**
 * The condition that is served by an index in list order, and the remaining conditions. The cost of a page
 * then depends on the rows it shows, however few rows match. Undefined if no index applies, in which case
 * Postgres reads the rows in their order.
 */
export interface Driver {
  readonly rest: LogFilter
  /** Each arm is served in order, and a row is in at most one of them. The list merges them. */
  readonly arms: readonly Arm[]
}

export interface Arm {
  readonly column: LogColumn
  readonly value: string
  /** Excludes rows whose `requested_model` is one of these values, because they are in other arms. */
  readonly unlessRequested: readonly string[] | undefined
}

/**
 * Columns of `requests` with an index by time on each partition, or at least on each closed one: see
 * `logIndexes`.
 */
const ordered: ReadonlySet<LogColumn> = new Set([
  'tenant_id',
  'key_id',
  'requested_model',
  'served_model',
  'channel',
  'end_user',
  'error_kind',
  'client_address',
])
/** More arms than a page has rows would cost more than they save. */
const armsMax = 32

export function driverOf({ conditions }: LogFilter): Driver | undefined {
  let best: { condition: Condition; arms: Arm[] } | undefined
  for (const condition of conditions) {
    const arms = armsOf(condition)
    if (arms === undefined || arms.length > armsMax) continue
    if (best === undefined || arms.length < best.arms.length) best = { condition, arms }
  }
  if (best === undefined) return undefined
  const { condition, arms } = best
  const isWhole = kindsOf(condition) === undefined
  return {
    rest: { conditions: isWhole ? conditions.filter((other) => other !== condition) : conditions },
    arms,
  }
}

/**
 * The error kinds of the reasons in a condition: the index on kinds serves it, and the condition itself is
 * kept.
 */
function kindsOf({ test, ...condition }: Condition): string[] | undefined {
  if (test !== 'is' || !('columns' in condition) || condition.columns[0] !== 'error_reason') return undefined
  const kinds = condition.values.map((value) =>
    typeof value === 'string' && isReason(value) ? reasons[value].kind : undefined,
  )
  return kinds.every((kind) => kind !== undefined) ? [...new Set(kinds)] : undefined
}

function armsOf(condition: Condition): Arm[] | undefined {
  if (condition.not || condition.test !== 'is') return undefined
  const kinds = kindsOf(condition)
  if (kinds !== undefined)
    return kinds.map((value) => ({ column: 'error_kind', value, unlessRequested: undefined }))
  const { columns } = condition
  const values = condition.values.filter((value) => typeof value === 'string')
  if (values.length < condition.values.length || !columns.every((column) => ordered.has(column)))
    return undefined
  const isBoth = columns.includes('requested_model') && columns.includes('served_model')
  return columns.flatMap((column) =>
    values.map((value) => ({
      column,
      value,
      unlessRequested: isBoth && column === 'served_model' ? values : undefined,
    })),
  )
}
