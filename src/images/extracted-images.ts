import { gatewayError } from '../canonical/error.ts'
import type { ImageSource } from '../canonical/image.ts'
import { Base64Extractor, type ExtractorStep } from '../protocols/base64-extractor.ts'
import { type ImageReceiver, type ReceivedImage, receiveImage } from './storage/receive.ts'
import type { ImageStorage } from './storage/storage.ts'

/** Takes the images out of one upstream's answer while it arrives, and stores them. */
export class ExtractedImages {
  readonly #storage: ImageStorage
  readonly #imageBytesMax: number
  readonly #onText: (bytes: Buffer) => Promise<void>
  readonly #extractor = new Base64Extractor()
  /**
   * By number. An error counts only when the decoder asks for that image: not all long base64 strings are
   * images.
   */
  readonly #stored = new Map<number, ReceivedImage | { error: unknown }>()
  #receiver: ImageReceiver | undefined

  /** `onText` gets the answer without its images. Its errors reject `push` and `end`. */
  constructor(options: {
    storage: ImageStorage
    imageBytesMax: number
    onText(bytes: Buffer): Promise<void>
  }) {
    this.#storage = options.storage
    this.#imageBytesMax = options.imageBytesMax
    this.#onText = options.onText
  }

  /** Resolves when storage has taken the images of this chunk. Call it again only then. */
  push(chunk: Buffer): Promise<void> {
    return this.#handle(this.#extractor.push(chunk))
  }

  end(): Promise<void> {
    return this.#handle(this.#extractor.end())
  }

  /**
   * The stored image that a decoder names, or its link. Rejects when the image is incomplete, or could not be
   * stored.
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

  /** Delete an image that is only half stored. */
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
