import type { RowOf } from '../column.ts'
import type { requestColumns } from '../row.ts'

/** A row of the usage log with all its columns. */
export type LogRow = RowOf<(typeof requestColumns)[number]>
export type LogColumn = keyof LogRow

/** The filter of an admin: a row matches when all conditions are true. Any number of them may be combined. */
export interface AdminFilter {
  readonly conditions: readonly Condition[]
}

/** `not`: the rows for which the condition is not true. A column without a value is then such a row. */
export type Condition = { readonly not: boolean } & Test

/** Null among the values matches a column without a value. */
export type Test =
  /** One of the columns has one of the values. */
  | {
      readonly test: 'is'
      readonly columns: readonly LogColumn[]
      readonly values: readonly (string | number | boolean | null)[]
    }
  /** What the row belongs to has, or had, one of these names. `withIds` makes an `is` of it. */
  | { readonly test: 'named'; readonly kind: NamedKind; readonly names: readonly (string | null)[] }
  /** The text has one of these parts, in capital or small letters. */
  | { readonly test: 'contains'; readonly column: LogColumn; readonly parts: readonly (string | null)[] }
  /** The number is in one of the ranges. */
  | { readonly test: 'between'; readonly column: LogColumn; readonly ranges: readonly (Range | null)[] }
  /** Whether a part of the cost was not charged. Null: its cost is not known. */
  | { readonly test: 'uncharged'; readonly values: readonly (boolean | null)[] }
  /** The address is in one of these CIDR blocks, or it is one of these addresses. */
  | {
      readonly test: 'within'
      readonly column: 'client_address'
      readonly blocks: readonly (string | null)[]
    }
  /** The row has all these tags; with `not`, any of them. */
  | { readonly test: 'tagged'; readonly tags: readonly (string | null)[] }

export type NamedKind = 'tenant' | 'key' | 'group'

/** Both ends are in the range; undefined: it has no such end. */
export interface Range {
  readonly least: bigint | undefined
  readonly most: bigint | undefined
}

export const idColumns: Readonly<Record<NamedKind, LogColumn>> = {
  tenant: 'tenant_id',
  key: 'key_id',
  group: 'group_id',
}

/** The filter, and only rows of this tenant. */
export function ofTenant(filter: AdminFilter, tenantId: string): AdminFilter {
  return {
    conditions: [
      { not: false, test: 'is', columns: ['tenant_id'], values: [tenantId] },
      ...filter.conditions,
    ],
  }
}
