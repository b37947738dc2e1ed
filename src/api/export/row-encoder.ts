import type { ColumnKind } from '../../ledger/column.ts'

/** A column of an export. */
export interface ExportColumn {
  readonly name: string
  readonly kind: ColumnKind
}

/**
 * Makes a file of rows, batch by batch. A row has its values in the order of the columns, as Postgres answers
 * them.
 */
export interface RowEncoder {
  begin(): Buffer
  /** At least one row. */
  rows(rows: readonly (readonly unknown[])[]): Buffer | Promise<Buffer>
  end(): Buffer | Promise<Buffer>
}
