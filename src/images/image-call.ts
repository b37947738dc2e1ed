import { GatewayError } from '../canonical/error.ts'
import type { ImageAnswer, ImageEvent, ImageSource } from '../canonical/image.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import type { AttemptRecord } from '../ledger/record.ts'
import type { ImageSide, ImageStreamDecoder } from '../protocols/image-protocol.ts'
import { Lifter, type LiftStep } from '../protocols/lift.ts'
import { FrameEnds, frameData } from '../protocols/sse.ts'
import { asGatewayError } from '../stages/ending.ts'
import { isRedirect, redirected } from '../upstream/answer-errors.ts'
import type { Listener, ResponseHeaders, UpstreamCall } from '../upstream/upstreams.ts'
import { type ImageReceiver, type ReceivedImage, receiveImage } from './storage/receive.ts'
import type { ImageStorage } from './storage/storage.ts'

/** The result of one upstream call. It has one image at least, and its images are stored. */
export interface CallAnswer {
  answer: Omit<ImageAnswer, 'images'>
  images: { source: ReceivedImage | { url: string }; revisedPrompt: string | undefined }[]
  /** Why there may be fewer than the call was to make. */
  error: GatewayError | undefined
}

export interface ImageCallOptions {
  side: ImageSide
  attempt: AttemptRecord
  storage: ImageStorage
  imageBytesMax: number
  answerBytesMax: number
  /** More of them are not looked at. */
  previewsMax: number
  /** A preview came. What it rejects with ends the call. */
  onPartial(image: ReceivedImage, index: number): Promise<void>
  done(result: { ok: true; value: CallAnswer } | { ok: false; error: GatewayError }): void
}

/** More of a refusal, of an answer's text beside its images, or of one event of a stream, is not read. */
const refusalBytesMax = 64 * 1024
const textBytesMax = 4 * 1024 * 1024

/**
 * Reads one upstream's answer with images as it comes: the images go to storage without being held, the upstream waits
 * while they are written, and what is left of the answer is decoded by its protocol.
 */
export class ImageCall implements Listener {
  readonly #options: ImageCallOptions
  readonly #sentAt = Date.now()
  readonly #lifter = new Lifter()
  /** By their number; some of what is lifted is no image, which matters only when it was to be one. */
  readonly #stored = new Map<number, ReceivedImage | { error: unknown }>()
  #receiver: ImageReceiver | undefined
  #status = 0
  #headers: ResponseHeaders = {}
  #stream: { lines: DataLines; decoder: ImageStreamDecoder } | undefined
  #text: Buffer[] = []
  #textBytes = 0
  #bytes = 0
  #completed: ImageAnswer[] = []
  #previews = 0
  #work: Promise<void> = Promise.resolve()
  #failure: GatewayError | undefined
  #over = false

  constructor(options: ImageCallOptions) {
    this.#options = options
  }

  start(upstream: UpstreamCall, status: number, headers: ResponseHeaders): void {
    const { attempt } = this.#options
    this.#status = status
    this.#headers = headers
    attempt.status = status
    attempt.firstByteMs = Date.now() - this.#sentAt
    attempt.upstreamRequestId = textOf(headers['x-request-id'])
    if (!textOf(headers['content-type'])?.startsWith('text/event-stream') || !this.#isAnswer()) return
    const decoder = this.#options.side.decodeStream?.()
    if (decoder !== undefined) this.#stream = { lines: new DataLines(), decoder }
    else upstream.abort(upstreamError('The upstream streams, which it was not asked for.'))
  }

  data(upstream: UpstreamCall, chunk: Buffer): void {
    if (this.#over) return
    if (!this.#isAnswer()) {
      if (this.#textBytes < refusalBytesMax) this.#keep(chunk)
      else upstream.abort(this.#refusal())
      return
    }
    this.#bytes += chunk.length
    if (this.#bytes > this.#options.answerBytesMax) {
      upstream.abort(
        upstreamError(`The upstream answered with more than ${this.#options.answerBytesMax} bytes.`),
      )
      return
    }
    upstream.pause()
    // undici uses a chunk's memory again.
    const bytes = Buffer.from(chunk)
    this.#work = this.#work
      .then(() => this.#take(bytes))
      .then(
        () => upstream.resume(),
        (error: unknown) => {
          this.#failure ??= asGatewayError(error)
          upstream.resume()
          upstream.abort(this.#failure)
        },
      )
  }

  end(): void {
    this.#conclude(undefined)
  }

  fail(error: GatewayError): void {
    this.#conclude(error)
  }

  async #take(chunk: Buffer): Promise<void> {
    if (this.#failure !== undefined) return
    await this.#takeSteps(this.#lifter.push(chunk))
  }

  async #takeSteps(steps: readonly LiftStep[]): Promise<void> {
    for (const step of steps) {
      switch (step.type) {
        case 'text':
          await this.#takeText(step.bytes)
          break
        case 'begin':
          this.#receiver = receiveImage(this.#options.storage, this.#options.imageBytesMax)
          break
        case 'data':
          await this.#receiver?.write(step.bytes).catch((error: unknown) => this.#giveUp(step.index, error))
          break
        case 'end':
          await this.#receiver?.finish().then(
            (image) => this.#stored.set(step.index, image),
            (error: unknown) => this.#giveUp(step.index, error),
          )
          this.#receiver = undefined
          break
      }
    }
  }

  #giveUp(index: number, error: unknown): void {
    this.#stored.set(index, { error })
    this.#receiver = undefined
  }

  async #takeText(bytes: Buffer): Promise<void> {
    if (this.#stream === undefined) {
      this.#keep(bytes)
      return
    }
    const { lines, decoder } = this.#stream
    for (const data of lines.push(bytes)) await this.#takeData(decoder, data)
    if (lines.heldBytes > textBytesMax)
      throw upstreamError(`The upstream sent an event of more than ${textBytesMax} bytes beside its image.`)
  }

  async #takeData(decoder: ImageStreamDecoder, data: string): Promise<void> {
    if (data !== '[DONE]') await this.#takeEvents(decoder.push(parsed(data)))
  }

  async #takeEvents(events: readonly ImageEvent[]): Promise<void> {
    for (const event of events) {
      if (event.type === 'completed') this.#completed.push(event.answer)
      else if (this.#previews < this.#options.previewsMax) {
        this.#previews++
        // Without a preview, the image is as good.
        const image = await this.#storedOf(event.source).catch(() => undefined)
        if (image !== undefined && 'file' in image) await this.#options.onPartial(image, event.index)
      }
    }
  }

  #keep(bytes: Buffer): void {
    this.#textBytes += bytes.length
    if (this.#textBytes > textBytesMax)
      throw upstreamError(`The upstream answered with more than ${textBytesMax} bytes beside its images.`)
    this.#text.push(this.#isAnswer() ? bytes : Buffer.from(bytes))
  }

  /** `broken`: why the answer did not come to its end. */
  #conclude(broken: GatewayError | undefined): void {
    void this.#work
      .then(() => {
        this.#failure ??= broken
        return this.#finish()
      })
      .then(
        (value) => this.#settle({ ok: true, value }),
        (error: unknown) => this.#settle({ ok: false, error: asGatewayError(error) }),
      )
  }

  /** Images that arrived count, even when something failed. */
  async #finish(): Promise<CallAnswer> {
    if (!this.#isAnswer()) {
      throw this.#failure ?? this.#refusal()
    }
    const answers =
      this.#stream === undefined ? [await this.#wholeAnswer()] : await this.#streamed(this.#stream)
    const images: CallAnswer['images'] = []
    for (const { source, revisedPrompt } of answers.flatMap((answer) => answer.images)) {
      await this.#orNote(async () => {
        images.push({ source: await this.#storedOf(source), revisedPrompt })
      })
    }
    const [first] = answers
    if (first === undefined || images.length === 0)
      throw this.#failure ?? upstreamError('The upstream answered without an image.')
    // Where each image has an event of its own, the last one knows of them all.
    return { answer: { ...first, usage: answers.at(-1)?.usage }, images, error: this.#failure }
  }

  #refusal(): GatewayError {
    if (isRedirect(this.#status)) return redirected(this.#status)
    return this.#options.side.decodeError(this.#status, this.#headers, Buffer.concat(this.#text))
  }

  /** One that is cut off cannot be read. */
  async #wholeAnswer(): Promise<ImageAnswer> {
    if (this.#failure !== undefined) throw this.#failure
    await this.#takeSteps(this.#lifter.end())
    return this.#options.side.decodeAnswer(parsed(Buffer.concat(this.#text).toString('utf8')))
  }

  async #streamed({
    lines,
    decoder,
  }: {
    lines: DataLines
    decoder: ImageStreamDecoder
  }): Promise<ImageAnswer[]> {
    if (this.#failure === undefined) {
      await this.#orNote(async () => {
        await this.#takeSteps(this.#lifter.end())
        for (const data of lines.end()) await this.#takeData(decoder, data)
      })
    }
    await this.#orNote(() => this.#takeEvents(decoder.end()))
    return this.#completed
  }

  /** The first that goes wrong is told. */
  async #orNote(doing: () => Promise<void>): Promise<void> {
    try {
      await doing()
    } catch (error) {
      this.#failure ??= asGatewayError(error)
    }
  }

  async #storedOf(source: ImageSource): Promise<ReceivedImage | { url: string }> {
    switch (source.kind) {
      case 'url':
        return { url: source.url }
      case 'lifted': {
        const stored = this.#stored.get(source.index)
        if (stored === undefined) throw upstreamError('The upstream cut an image off.')
        if ('error' in stored) throw stored.error
        return stored
      }
      case 'base64': {
        const index = this.#lifter.indexOf(source.data)
        if (index !== undefined) return await this.#storedOf({ kind: 'lifted', index })
        const receiver = receiveImage(this.#options.storage, this.#options.imageBytesMax)
        await receiver.write(Buffer.from(source.data, 'base64'))
        return await receiver.finish()
      }
    }
  }

  #settle(result: Parameters<ImageCallOptions['done']>[0]): void {
    if (this.#over) return
    this.#over = true
    void this.#receiver?.abandon()
    const { attempt, done } = this.#options
    attempt.totalMs = Date.now() - this.#sentAt
    const error = result.ok ? result.value.error : result.error
    if (error !== undefined) attempt.error = { kind: error.kind, message: error.message }
    done(result)
  }

  #isAnswer(): boolean {
    return this.#status >= 200 && this.#status <= 299
  }
}

/** The `data` of each server-sent event, joined as the standard says. Images are lifted: what is left is small. */
class DataLines {
  readonly #ends = new FrameEnds()
  #held: Buffer[] = []
  /** Bytes of an event that has not ended yet. */
  heldBytes = 0

  push(bytes: Buffer): string[] {
    const found: string[] = []
    this.#ends.begin(bytes)
    let from = 0
    for (let end = this.#ends.next(from); end !== -1; end = this.#ends.next(from)) {
      const frame = Buffer.concat([...this.#held, bytes.subarray(from, end)])
      const data = frameData(frame, 0, frame.length)
      if (data !== undefined) found.push(data)
      this.#held = []
      this.heldBytes = 0
      from = end
    }
    if (from < bytes.length) {
      this.#held.push(bytes.subarray(from))
      this.heldBytes += bytes.length - from
    }
    return found
  }

  /** Some upstreams leave out the last blank line. */
  end(): string[] {
    const frame = Buffer.concat(this.#held)
    const data = frameData(frame, 0, frame.length)
    return data === undefined ? [] : [data]
  }
}

function parsed(text: string): Json {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new GatewayError('upstream_error', 'The upstream answered with what is no JSON.', { cause })
  }
  if (isRecord(value)) return value
  throw upstreamError('The upstream answered with what is no JSON object.')
}

function upstreamError(message: string): GatewayError {
  return new GatewayError('upstream_error', message)
}

function textOf(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null
}
