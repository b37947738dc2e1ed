import type { Readable } from 'node:stream'

/**
 * Where the bytes of images are kept: files or an S3 bucket. Keys are `YYYY-MM-DD/NAME`: the day (UTC) they were
 * begun, and 32 hex digits that nobody can guess.
 */
export interface ImageStorage {
  /** A new place. Nothing is to be seen of it until `commit`. */
  create(): ImageWriter
  /**
   * The bytes, or undefined when they are not (or no more) there, which is so of every key that is none of ours. The
   * stream holds a file or a connection until it is read to its end or destroyed.
   */
  open(key: string): Promise<StoredImage | undefined>
  /**
   * Deletes all that was begun on days before this moment's day (UTC), half-written places included. Answers how many.
   * May run in several processes at once. Who is reading a file that goes reads it to its end.
   */
  removeBefore(moment: Date): Promise<number>
  /** Rejects with an Error for the operator when nothing could be written here. */
  check(): Promise<void>
  close(): Promise<void>
}

/** One `write` or `commit` at a time. Every rejection is an Error for the operator, after which only `abandon` is of use. */
export interface ImageWriter {
  readonly key: string
  /** Resolves when more may be written. Rejects when it cannot be kept. The bytes must not be changed afterwards. */
  write(bytes: Buffer): Promise<void>
  /** Whole and durable. */
  commit(): Promise<void>
  /**
   * Nothing is left of it, committed or not. May be called while another call runs. Never rejects: what cannot be
   * deleted now is left to `removeBefore`.
   */
  abandon(): Promise<void>
}

export interface StoredImage {
  bytes: number
  stream: Readable
}
