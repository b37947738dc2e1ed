import { gatewayError } from '../canonical/error.ts'
import type { ImageSource } from '../canonical/image.ts'
import { Base64Extractor, type ExtractorStep } from '../protocols/base64-extractor.ts'
import { type ImageReceiver, type ReceivedImage, receiveImage } from '../storage/receive.ts'
import type { ImageStorage } from '../storage/storage.ts'

/** Extracts the images from an upstream response while it arrives, and stores them. */
export class ExtractedImages {
  readonly #storage: ImageStorage
  readonly #imageBytesMax: number
  readonly #onText: (bytes: Buffer) => Promise<void>
  readonly #extractor = new Base64Extractor()
  /**
   * The images by number. An error matters only if the decoder requests that image, because not every long
   * base64 string is an image.
   */
  readonly #stored = new Map<number, ReceivedImage | { error: unknown }>()
  #receiver: ImageReceiver | undefined

  /** `onText` receives the response without its images. If it fails, `push` and `end` reject. */
  constructor(options: {
    storage: ImageStorage
    imageBytesMax: number
    onText(bytes: Buffer): Promise<void>
  }) {
    this.#storage = options.storage
    this.#imageBytesMax = options.imageBytesMax
    this.#onText = options.onText
  }

  /** Resolves when the storage has accepted the images of this chunk. Call it again only after that. */
  push(chunk: Buffer): Promise<void> {
    return this.#handle(this.#extractor.push(chunk))
  }

  end(): Promise<void> {
    return this.#handle(this.#extractor.end())
  }

  /**
   * Returns the stored image to which a decoder refers, or its link. Rejects if the image is incomplete or
   * could not be stored.
   */
  async find(source: ImageSource): Promise<ReceivedImage | { url: string }> {
    switch (source.kind) {
      case 'url':
        return { url: source.url }
      case 'extracted': {
        const stored = this.#stored.get(source.index)
        if (stored === undefined) {
          throw gatewayError('upstream_ended_early')
        }
        if ('error' in stored) throw stored.error
        return stored
      }
      case 'base64': {
        const index = this.#extractor.indexOf(source.data)
        if (index !== undefined) return await this.find({ kind: 'extracted', index })
        const receiver = receiveImage(this.#storage, this.#imageBytesMax)
        await receiver.write(Buffer.from(source.data, 'base64'))
        return await receiver.finish()
      }
    }
  }

  /** Deletes an image that is only partly stored. */
  async abandon(): Promise<void> {
    await this.#receiver?.abandon()
  }

  async #handle(steps: readonly ExtractorStep[]): Promise<void> {
    for (const step of steps) {
      switch (step.type) {
        case 'text':
          await this.#onText(step.bytes)
          break
        case 'begin':
          this.#receiver = receiveImage(this.#storage, this.#imageBytesMax)
          break
        case 'data':
          await this.#receiver?.write(step.bytes).catch((error: unknown) => this.#fail(step.index, error))
          break
        case 'end':
          await this.#receiver?.finish().then(
            (image) => this.#stored.set(step.index, image),
            (error: unknown) => this.#fail(step.index, error),
          )
          this.#receiver = undefined
          break
      }
    }
  }

  #fail(index: number, error: unknown): void {
    this.#stored.set(index, { error })
    this.#receiver = undefined
  }
}
