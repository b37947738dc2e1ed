import { isReason, reasons } from '../../canonical/reasons/catalogue.ts'
import type { AdminFilter, Condition, LogColumn } from './filter.ts'

/**
 * The condition that an index with the order of the list serves, and the other ones. A page then costs what
 * it shows, however few of the rows match. Undefined: no index does, and Postgres reads the rows in their
 * order.
 */
export interface Driver {
  readonly rest: AdminFilter
  /** Each is served in order, and a row is in one of them at most. The list merges them. */
  readonly arms: readonly Arm[]
}

export interface Arm {
  readonly column: LogColumn
  readonly value: string
  /** The rows where `requested_model` has one of these values are in other arms. */
  readonly unlessRequested: readonly string[] | undefined
}

/**
 * Of these columns, `requests` has an index by time on each partition, or on each closed one: see
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
/** More arms than a page has rows would cost more than they spare. */
const armsMax = 32

export function driverOf({ conditions }: AdminFilter): Driver | undefined {
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

/** The kinds of the reasons that a condition names: their index serves it, and the condition remains. */
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
