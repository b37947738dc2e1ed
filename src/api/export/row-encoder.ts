import type { ColumnKind } from '../../journal/column.ts'

/** A column of an export. */
export interface ExportColumn {
  readonly name: string
  readonly kind: ColumnKind
}

/**
 * Encodes rows as a file, batch by batch. The values of a row are in column order, as returned by Postgres.
 */
export interface RowEncoder {
  begin(): Buffer
  /** Contains at least one row. */
  rows(rows: readonly (readonly unknown[])[]): Buffer | Promise<Buffer>
  end(): Buffer | Promise<Buffer>
}
