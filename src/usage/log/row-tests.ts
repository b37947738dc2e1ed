import type { RowOf } from '../../journal/column.ts'
import type { requestColumns } from '../../journal/row.ts'

/** A row of the usage log with all its columns. */
export type LogRow = RowOf<(typeof requestColumns)[number]>
export type LogColumn = keyof LogRow

/** An admin's filter: a row matches if all conditions are true. Conditions can be combined freely. */
export interface AdminFilter {
  readonly conditions: readonly Condition[]
}

/** `not` selects the rows for which the test is not true, including rows whose column has no value. */
export type Condition = { readonly not: boolean } & Test

/** A null among the values matches a column without a value. */
export type Test =
  /** One of the columns has one of the values. */
  | {
      readonly test: 'is'
      readonly columns: readonly LogColumn[]
      readonly values: readonly (string | number | boolean | null)[]
    }
  /**
   * The row's tenant, key or group has, or had, one of these names. `withIds` converts this to an `is` test.
   */
  | { readonly test: 'named'; readonly kind: NamedKind; readonly names: readonly (string | null)[] }
  /** The text contains one of these parts, ignoring case. */
  | { readonly test: 'contains'; readonly column: LogColumn; readonly parts: readonly (string | null)[] }
  /** The number is in one of the ranges. */
  | { readonly test: 'between'; readonly column: LogColumn; readonly ranges: readonly (Range | null)[] }
  /** Whether part of the cost was not charged. Null: its cost is unknown. */
  | { readonly test: 'uncharged'; readonly values: readonly (boolean | null)[] }
  /** The address is in one of these CIDR blocks or is one of these addresses. */
  | {
      readonly test: 'within'
      readonly column: 'client_address'
      readonly blocks: readonly (string | null)[]
    }
  /** The row has all these tags; with `not`, it has none of them. */
  | { readonly test: 'tagged'; readonly tags: readonly (string | null)[] }

export type NamedKind = 'tenant' | 'key' | 'group'

/** Both ends are inclusive; undefined means that there is no such end. */
export interface Range {
  readonly least: bigint | undefined
  readonly most: bigint | undefined
}

export const idColumns: Readonly<Record<NamedKind, LogColumn>> = {
  tenant: 'tenant_id',
  key: 'key_id',
  group: 'group_id',
}

/** The filter, restricted to the rows of this tenant. */
export function ofTenant(filter: AdminFilter, tenantId: string): AdminFilter {
  return {
    conditions: [
      { not: false, test: 'is', columns: ['tenant_id'], values: [tenantId] },
      ...filter.conditions,
    ],
  }
}
