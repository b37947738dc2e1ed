import { copyHeader, copyTrailer, TupleWriter } from './tuple.ts'

/** Tuples on their way into one table. */
export class CopyBuffer {
  readonly statement: string
  /** Takes tuples, whole. */
  readonly out = new TupleWriter(64 * 1024)

  constructor(table: string, columns: readonly string[]) {
    this.statement = `COPY ${table} (${columns.join(', ')}) FROM STDIN (FORMAT binary)`
    this.clear()
  }

  get isEmpty(): boolean {
    return this.out.length === copyHeader.length
  }

  /** What COPY takes; nothing may be added behind it. The memory is used again after `clear`. */
  end(): Buffer {
    this.out.copy(copyTrailer, 0, copyTrailer.length)
    return this.out.written
  }

  clear(): void {
    this.out.length = 0
    this.out.copy(copyHeader, 0, copyHeader.length)
  }
}
