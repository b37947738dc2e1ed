import type { Readable } from 'node:stream'

/**
 * Stores the bytes of images, in files or in an S3 bucket. A key is `YYYY-MM-DD/NAME`: the day (UTC) on which
 * the image was begun, and 32 hex digits that cannot be guessed.
 */
export interface ImageStorage {
  /** True: all processes store into the same place. False: each machine has its own. */
  readonly isShared: boolean
  /** A writer for a new image. The image cannot be read before `commit`. */
  create(): ImageWriter
  /**
   * The bytes; undefined when the image does not exist (any more), or when the text is not a key. The stream
   * holds a file or a connection until it is read to its end or destroyed.
   */
  open(key: string): Promise<StoredImage | undefined>
  /** Deletes one image. It may be gone already. Does nothing for text that is not a key. */
  remove(key: string): Promise<void>
  /**
   * Deletes all images that were begun before this moment's day (UTC), unfinished ones included. Resolves
   * with their number. Several processes may run it at once. A reader of a deleted file can read it to its
   * end.
   */
  removeBefore(moment: Date): Promise<number>
  /** Rejects, with an Error for the operator, when it cannot write. */
  check(): Promise<void>
  close(): Promise<void>
}

/**
 * One `write` or `commit` at a time. Each rejection is an Error for the operator; after it, only `abandon`
 * makes sense.
 */
export interface ImageWriter {
  readonly key: string
  /**
   * Resolves when the caller may write more. Rejects when it cannot store the bytes. The caller must not
   * change them later.
   */
  write(bytes: Buffer): Promise<void>
  /** Resolves when the image is complete and durable. */
  commit(): Promise<void>
  /**
   * Deletes the image, committed or not. Allowed while another call runs. Never rejects: `removeBefore`
   * deletes later what it could not delete.
   */
  abandon(): Promise<void>
}

export interface StoredImage {
  bytes: number
  stream: Readable
}
