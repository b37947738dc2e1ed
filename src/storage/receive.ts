import { gatewayError } from '../canonical/error.ts'
import { type ContentType, sniff, sniffBytes } from './sniff.ts'
import type { ImageStorage, ImageWriter } from './storage.ts'

/**
 * Receives an image from an upstream in chunks: checks its type, counts its bytes and stores it. Only one
 * call may run at a time, except for `abandon`. If a call rejects, nothing of the image is left. It rejects
 * with `upstream_error` if this is not an image or has more than `bytesMax` bytes, and with `unavailable`,
 * whose cause is for the operator, if it cannot be stored.
 */
export class ImageReceiver {
  readonly #storage: ImageStorage
  readonly #bytesMax: number
  /** The first bytes, kept until the type can be determined. */
  #first: Buffer[] = []
  #bytes = 0
  #place: { writer: ImageWriter; contentType: ContentType } | undefined
  #failure: { error: unknown } | undefined

  constructor(storage: ImageStorage, bytesMax: number) {
    this.#storage = storage
    this.#bytesMax = bytesMax
  }

  /** Resolves when more bytes can be written. */
  write(bytes: Buffer): Promise<void> {
    return this.#orAbandon(async () => {
      this.#bytes += bytes.length
      if (this.#bytes > this.#bytesMax)
        throw gatewayError('upstream_image_too_large', { bytesMax: this.#bytesMax })
      if (this.#place !== undefined) return await kept(this.#place.writer.write(bytes))
      this.#first.push(bytes)
      if (this.#bytes >= sniffBytes) await this.#begin()
    })
  }

  /** Ends the image. Resolves when it is complete and durable. */
  finish(): Promise<ReceivedImage> {
    return this.#orAbandon(async () => {
      const { writer, contentType } = this.#place ?? (await this.#begin())
      await kept(writer.commit())
      return { file: writer.key, contentType, bytes: this.#bytes }
    })
  }

  /**
   * Deletes the image. It can be called after `finish` and during another call, which then rejects. Never
   * rejects.
   */
  async abandon(): Promise<void> {
    this.#failure ??= { error: new Error('the image was abandoned') }
    this.#first = []
    await this.#place?.writer.abandon()
  }

  async #begin(): Promise<{ writer: ImageWriter; contentType: ContentType }> {
    const first = Buffer.concat(this.#first)
    const contentType = sniff(first)
    if (contentType === undefined) throw noImage()
    this.#place = { writer: this.#storage.create(), contentType }
    this.#first = []
    await kept(this.#place.writer.write(first))
    return this.#place
  }

  async #orAbandon<T>(doing: () => Promise<T>): Promise<T> {
    this.#mustBeWanted()
    try {
      const done = await doing()
      this.#mustBeWanted()
      return done
    } catch (error) {
      this.#failure ??= { error }
      await this.abandon()
      throw error
    }
  }

  #mustBeWanted(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}

export interface ReceivedImage {
  /** Its key in the storage. */
  file: string
  contentType: ContentType
  bytes: number
}

export function receiveImage(storage: ImageStorage, bytesMax: number): ImageReceiver {
  return new ImageReceiver(storage, bytesMax)
}

async function kept(writing: Promise<void>): Promise<void> {
  try {
    await writing
  } catch (cause) {
    throw gatewayError('image_storage_away', { how: 'stored' }, { cause, retryAfterSeconds: 5 })
  }
}

const noImage = () => gatewayError('upstream_image_unreadable', { what: 'something that is not an image' })
