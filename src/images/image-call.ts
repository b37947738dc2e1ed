import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { headerText } from '../canonical/headers.ts'
import type { ImageAnswer, ImageEvent } from '../canonical/image.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { type AnswerKind, kindOfBytes, kindOfLabel, withoutMark } from '../http/answer-kind.ts'
import type { AttemptRecord } from '../journal/record.ts'
import { attemptError, requestIdIn } from '../pipeline/attempt.ts'
import { asGatewayError } from '../pipeline/ending.ts'
import { EventReader } from '../protocols/event-reader.ts'
import type { ImageSide, ImageStreamDecoder } from '../protocols/image-protocol.ts'
import type { ReceivedImage } from '../storage/receive.ts'
import type { ImageStorage } from '../storage/storage.ts'
import { isRedirect, redirected } from '../upstream/answer-errors.ts'
import type { Listener, ResponseHeaders, UpstreamCall } from '../upstream/upstreams.ts'
import { ExtractedImages } from './extracted-images.ts'

/** The result of one upstream call. It contains at least one image, and its images are already stored. */
export interface CallAnswer {
  answer: Omit<ImageAnswer, 'images'>
  images: { source: ReceivedImage | { url: string }; revisedPrompt: string | undefined }[]
  /** Why there may be fewer images than the call should have returned. */
  error: GatewayError | undefined
}

export interface ImageCallOptions {
  side: ImageSide
  attempt: AttemptRecord
  /** Secrets to remove by value from every text of the upstream. */
  secrets: readonly string[]
  storage: ImageStorage
  imageBytesMax: number
  answerBytesMax: number
  /** Any further previews are ignored. */
  previewsMax: number
  /** Receives each preview. If it rejects, the call ends with that error. */
  onPartial(image: ReceivedImage, index: number): Promise<void>
  done(result: { ok: true; value: CallAnswer } | { ok: false; error: GatewayError }): void
}

const nothing = Buffer.alloc(0)
/** The maximum number of bytes read from an error response. */
const refusalBytesMax = 64 * 1024
/** The maximum number of bytes of a response, or of one event of a stream, excluding the images. */
const textBytesMax = 4 * 1024 * 1024

/**
 * Reads an upstream response with images while it arrives. The images are stored in pieces, and the upstream
 * is paused while they are written. The protocol decodes the rest of the response.
 */
export class ImageCall implements Listener {
  readonly #options: ImageCallOptions
  readonly #sentAt = Date.now()
  readonly #images: ExtractedImages
  #status = 0
  #headers: ResponseHeaders = {}
  #stream: { events: EventReader; decoder: ImageStreamDecoder } | undefined
  #kind: AnswerKind | undefined
  /** The first bytes, kept until the kind of the response is known. */
  #begin: Buffer = nothing
  #text: Buffer[] = []
  #textBytes = 0
  #bytes = 0
  #completed: ImageAnswer[] = []
  #previews = 0
  #work: Promise<void> = Promise.resolve()
  /** The first error. */
  #failure: GatewayError | undefined
  #ended = false

  constructor(options: ImageCallOptions) {
    this.#options = options
    const { storage, imageBytesMax } = options
    this.#images = new ExtractedImages({ storage, imageBytesMax, onText: (bytes) => this.#takeText(bytes) })
  }

  start(_upstream: UpstreamCall, status: number, headers: ResponseHeaders): void {
    const { attempt } = this.#options
    this.#status = status
    this.#headers = headers
    attempt.status = status
    attempt.firstByteMs = Date.now() - this.#sentAt
    attempt.upstreamRequestId = requestIdIn(headers, this.#options.secrets)
  }

  /**
   * Returns the bytes to process now. The first bytes determine the kind of the response; its content type is
   * used only if they do not.
   */
  #taken(upstream: UpstreamCall, bytes: Buffer): Buffer {
    if (this.#kind !== undefined) return bytes
    const begin = this.#begin.length === 0 ? bytes : Buffer.concat([this.#begin, bytes])
    const kind = kindOfBytes(begin)
    this.#begin = kind === undefined ? begin : nothing
    if (kind === undefined) return nothing
    this.#readAs(kind, upstream)
    return begin
  }

  #readAs(seen: AnswerKind, upstream: UpstreamCall | undefined): void {
    const label = kindOfLabel(headerText(this.#headers['content-type']) ?? '')
    this.#kind = seen === 'other' ? label : seen
    if (this.#kind !== 'events') return
    const decoder = this.#options.side.decodeStream?.()
    if (decoder !== undefined) this.#stream = { events: new EventReader(), decoder }
    else upstream?.abort(gatewayError('upstream_streams_unasked'))
  }

  data(upstream: UpstreamCall, chunk: Buffer): void {
    if (this.#ended) return
    if (!this.#isAnswer()) {
      if (this.#textBytes < refusalBytesMax) this.#keepText(chunk)
      else upstream.abort(this.#refusal())
      return
    }
    this.#bytes += chunk.length
    if (this.#bytes > this.#options.answerBytesMax) {
      upstream.abort(
        gatewayError(
          'upstream_answer_too_large',
          { bytesMax: this.#options.answerBytesMax },
          { fault: 'upstream' },
        ),
      )
      return
    }
    // Copy the chunk, because undici reuses its memory.
    const bytes = this.#taken(upstream, Buffer.from(chunk))
    if (bytes.length === 0) return
    upstream.pause()
    this.#work = this.#work
      .then(() => (this.#failure === undefined ? this.#images.push(bytes) : undefined))
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
    const begin = this.#begin
    if (begin.length > 0) {
      this.#readAs('other', undefined)
      this.#work = this.#work.then(() => this.#orKeepFailure(() => this.#images.push(begin)))
    }
    this.#conclude(undefined)
  }

  fail(error: GatewayError): void {
    this.#conclude(error)
  }

  async #takeText(bytes: Buffer): Promise<void> {
    if (this.#stream === undefined) {
      this.#keepText(bytes)
      return
    }
    const { events, decoder } = this.#stream
    for (const { data } of events.push(bytes)) await this.#takeData(decoder, data)
    if (events.heldBytes > textBytesMax) throw tooMuchText()
  }

  async #takeData(decoder: ImageStreamDecoder, data: string): Promise<void> {
    if (data !== '[DONE]') await this.#takeEvents(decoder.push(parseJson(data)))
  }

  async #takeEvents(events: readonly ImageEvent[]): Promise<void> {
    for (const event of events) {
      if (event.type === 'completed') this.#completed.push(event.answer)
      else if (this.#previews < this.#options.previewsMax) {
        this.#previews++
        // A preview that cannot be stored is no loss, because the image itself will follow.
        const image = await this.#images.find(event.source).catch(() => undefined)
        if (image !== undefined && 'file' in image) await this.#options.onPartial(image, event.index)
      }
    }
  }

  #keepText(bytes: Buffer): void {
    this.#textBytes += bytes.length
    if (this.#textBytes > textBytesMax) throw tooMuchText()
    this.#text.push(this.#isAnswer() ? bytes : Buffer.from(bytes))
  }

  /** `broken` is the reason why the response ended early. */
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

  /** Images that arrived are returned even if something failed. */
  async #finish(): Promise<CallAnswer> {
    if (!this.#isAnswer()) {
      throw this.#failure ?? this.#refusal()
    }
    const answers =
      this.#stream === undefined ? [await this.#wholeAnswer()] : await this.#streamedAnswers(this.#stream)
    const images: CallAnswer['images'] = []
    for (const { source, revisedPrompt } of answers.flatMap((answer) => answer.images)) {
      await this.#orKeepFailure(async () => {
        images.push({ source: await this.#images.find(source), revisedPrompt })
      })
    }
    const [first] = answers
    if (first === undefined || images.length === 0)
      throw this.#failure ?? gatewayError('upstream_image_missing')
    // A stream has one event per image. The usage in the last event covers all images.
    return { answer: { ...first, usage: answers.at(-1)?.usage }, images, error: this.#failure }
  }

  #refusal(): GatewayError {
    if (isRedirect(this.#status)) return redirected(this.#status)
    return this.#options.side.decodeError(this.#status, this.#headers, Buffer.concat(this.#text))
  }

  /** Rejects if the response broke off, because half of a JSON text cannot be decoded. */
  async #wholeAnswer(): Promise<ImageAnswer> {
    if (this.#failure !== undefined) throw this.#failure
    await this.#images.end()
    return this.#options.side.decodeAnswer(parseJson(withoutMark(Buffer.concat(this.#text)).toString('utf8')))
  }

  async #streamedAnswers({
    events,
    decoder,
  }: {
    events: EventReader
    decoder: ImageStreamDecoder
  }): Promise<ImageAnswer[]> {
    if (this.#failure === undefined) {
      await this.#orKeepFailure(async () => {
        await this.#images.end()
        for (const { data } of events.end().events) await this.#takeData(decoder, data)
      })
    }
    await this.#orKeepFailure(() => this.#takeEvents(decoder.end()))
    return this.#completed
  }

  async #orKeepFailure(action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      this.#failure ??= asGatewayError(error)
    }
  }

  #settle(result: Parameters<ImageCallOptions['done']>[0]): void {
    if (this.#ended) return
    this.#ended = true
    void this.#images.abandon()
    const { attempt, done } = this.#options
    attempt.totalMs = Date.now() - this.#sentAt
    const error = result.ok ? result.value.error : result.error
    if (error !== undefined) attempt.error = attemptError(error)
    done(result)
  }

  #isAnswer(): boolean {
    return this.#status >= 200 && this.#status <= 299
  }
}

function parseJson(text: string): Json {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw gatewayError('upstream_answer_unreadable', { what: 'a response that is not valid JSON' }, { cause })
  }
  if (isRecord(value)) return value
  throw gatewayError('upstream_answer_unreadable', { what: 'a response that is not a JSON object' })
}

function tooMuchText(): GatewayError {
  const what = `more than ${textBytesMax} bytes in addition to its images`
  return gatewayError('upstream_image_unreadable', { what })
}
