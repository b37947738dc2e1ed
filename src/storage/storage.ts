import type { Readable } from 'node:stream'

/**
 * Stores image data in files or in an S3 bucket. A key is `YYYY-MM-DD/NAME`: the day (UTC) on which the image
 * was started, and 32 unguessable hex digits.
 */
export interface ImageStorage {
  /** Whether all processes share the same storage. Otherwise each machine has its own. */
  readonly isShared: boolean
  /** Returns a writer for a new image, which cannot be read before `commit`. */
  create(): ImageWriter
  /**
   * Opens an image. Undefined if it does not exist, or no longer does, or if the text is not a key. The
   * stream holds a file or a connection until it is read to its end or destroyed.
   */
  open(key: string): Promise<StoredImage | undefined>
  /** Deletes one image, which may already be gone. Does nothing if the text is not a key. */
  remove(key: string): Promise<void>
  /**
   * Deletes all images that were started before the day (UTC) of this moment, including unfinished ones, and
   * resolves with their number. Several processes can run it at once. A reader that has opened a deleted file
   * can still read it to its end.
   */
  removeBefore(moment: Date): Promise<number>
  /** Rejects with an Error for the operator if it cannot write. */
  check(): Promise<void>
  close(): Promise<void>
}

/**
 * Only one `write` or `commit` may run at a time. Every rejection is an Error for the operator, after which
 * only `abandon` may be called.
 */
export interface ImageWriter {
  readonly key: string
  /**
   * Resolves when the caller can write more. Rejects if the bytes cannot be stored. The caller must not
   * modify the bytes afterwards.
   */
  write(bytes: Buffer): Promise<void>
  /** Resolves when the image is complete and durable. */
  commit(): Promise<void>
  /**
   * Deletes the image, committed or not. It can be called while another call is running. Never rejects:
   * whatever it could not delete is deleted later by `removeBefore`.
   */
  abandon(): Promise<void>
}

export interface StoredImage {
  bytes: number
  stream: Readable
}
