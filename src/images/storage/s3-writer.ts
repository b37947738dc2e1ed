import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { Bucket } from './s3-bucket.ts'
import type { ImageWriter } from './storage.ts'

/**
 * An image that becomes an object. What is written flows into an upload, part by part, and waits while a part is on
 * its way: about three parts are held at most, whatever the size of the image.
 */
export class S3Writer implements ImageWriter {
  readonly key: string
  readonly #bucket: Bucket
  readonly #object: { Bucket: string; Key: string }
  readonly #body = new PassThrough()
  /** Resolves, with the error when it failed, when it has ended in every respect. */
  #upload: Promise<{ error: unknown } | undefined> | undefined
  /** From then on there may be an object, whatever we were told. */
  #committing = false

  constructor(bucket: Bucket, key: string) {
    this.key = key
    this.#bucket = bucket
    this.#object = { Bucket: bucket.name, Key: bucket.prefix + key }
    // What fails is told by the calls; without a listener an error would end the process.
    this.#body.on('error', () => {})
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
    // An upload whose source breaks ends by taking its parts away. Its own abort() would not wait for that.
    this.#body.destroy(new Error('it was abandoned'))
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
      // Wakes a write that waits for room.
      this.#body.destroy(error instanceof Error ? error : new Error(String(error)))
      return { error }
    }
  }

  #cannotKeep(cause: unknown): Error {
    const why = cause instanceof Error ? cause.message : String(cause)
    return new Error(`The image cannot be kept in the bucket ${this.#bucket.name}: ${why}`, { cause })
  }
}
