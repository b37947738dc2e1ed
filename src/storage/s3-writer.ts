import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { adopt, breakOff } from '../runtime/confine.ts'
import type { Bucket } from './s3-bucket.ts'
import type { ImageWriter } from './storage.ts'

/**
 * Writes an image to an object in a bucket, part by part. A write waits while a part is being uploaded, so at
 * most about three parts are in memory, whatever the size of the image.
 */
export class S3Writer implements ImageWriter {
  readonly key: string
  readonly #bucket: Bucket
  readonly #object: { Bucket: string; Key: string }
  /** The calls report the errors of the upload. */
  readonly #body = adopt(new PassThrough())
  /** Resolves when the upload has ended, including its clean-up, with its error if it failed. */
  #upload: Promise<{ error: unknown } | undefined> | undefined
  /** Whether the object may exist, even if the upload reports an error. */
  #committing = false

  constructor(bucket: Bucket, key: string) {
    this.key = key
    this.#bucket = bucket
    this.#object = { Bucket: bucket.name, Key: bucket.prefix + key }
  }

  async write(bytes: Buffer): Promise<void> {
    try {
      if (this.#body.errored !== null) throw this.#body.errored
      this.#upload ??= this.#start()
      if (!this.#body.write(bytes)) await once(this.#body, 'drain')
    } catch (error) {
      throw this.#cannotKeep(error)
    }
  }

  async commit(): Promise<void> {
    if (this.#body.errored !== null) throw this.#cannotKeep(this.#body.errored)
    this.#upload ??= this.#start()
    this.#committing = true
    this.#body.end()
    const failed = await this.#upload
    if (failed !== undefined) throw this.#cannotKeep(failed.error)
  }

  async abandon(): Promise<void> {
    // An upload whose source fails deletes its parts before it ends. Its own abort() would not wait for that.
    breakOff(this.#body, new Error('the upload was abandoned'))
    await this.#upload
    if (!this.#committing) return
    const { sdk, client } = this.#bucket
    await client.send(new sdk.DeleteObjectCommand(this.#object)).catch(() => {})
  }

  async #start(): Promise<{ error: unknown } | undefined> {
    const { Upload, client, partBytes } = this.#bucket
    const params = { ...this.#object, Body: this.#body }
    try {
      await new Upload({ client, params, partSize: partBytes, queueSize: 1 }).done()
      return undefined
    } catch (error) {
      // Wakes up a write that is waiting for `drain`.
      breakOff(this.#body, error instanceof Error ? error : new Error(String(error)))
      return { error }
    }
  }

  #cannotKeep(cause: unknown): Error {
    const why = cause instanceof Error ? cause.message : String(cause)
    return new Error(`The image cannot be stored in the bucket ${this.#bucket.name}: ${why}`, { cause })
  }
}
