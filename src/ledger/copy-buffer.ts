import { copyHeader, copyTrailer, TupleWriter } from './tuple.ts'

/** Collects tuples for a COPY into one table. */
export class CopyBuffer {
  readonly statement: string
  readonly columns: readonly string[]
  /** Write whole tuples here. */
  readonly out = new TupleWriter(64 * 1024)

  constructor(table: string, columns: readonly string[]) {
    this.columns = columns
    this.statement = `COPY ${table} (${columns.join(', ')}) FROM STDIN (FORMAT binary)`
    this.clear()
  }

  get isEmpty(): boolean {
    return this.out.length === copyHeader.length
  }

  /** The input of the COPY. Add nothing after it. `clear` lets later tuples overwrite its memory. */
  end(): Buffer {
    this.out.copy(copyTrailer, 0, copyTrailer.length)
    return this.out.written
  }

  clear(): void {
    this.out.length = 0
    this.out.copy(copyHeader, 0, copyHeader.length)
  }
}
