import { copyHeader, copyTrailer, TupleWriter } from './tuple.ts'

/** Collects tuples for a COPY into one table. */
export class CopyBuffer {
  readonly statement: string
  readonly columns: readonly string[]
  /** Whole tuples must be written here. */
  readonly out = new TupleWriter(64 * 1024)

  constructor(table: string, columns: readonly string[]) {
    this.columns = columns
    this.statement = `COPY ${table} (${columns.join(', ')}) FROM STDIN (FORMAT binary)`
    this.clear()
  }

  get isEmpty(): boolean {
    return this.out.length === copyHeader.length
  }

  /** The input of the COPY: all tuples so far. Valid until the next write. */
  end(): Buffer {
    const { length } = this.out
    this.out.copy(copyTrailer, 0, copyTrailer.length)
    const input = this.out.written
    this.out.length = length
    return input
  }

  clear(): void {
    this.out.length = 0
    this.out.copy(copyHeader, 0, copyHeader.length)
  }
}
