import { GatewayError } from '../../canonical/error.ts'
import type { ChatEvent } from '../../canonical/event.ts'
import { isRecord } from '../../canonical/json.ts'
import { parseKeepingDigits } from '../../canonical/json-digits.ts'
import { SseDecoder } from '../../protocols/decode-sse.ts'
import type { KeptOptions } from '../../protocols/kept-options.ts'
import { EventObserver } from '../../protocols/observe.ts'
import type {
  AnswerContext,
  DecodeAnswerContext,
  StreamWatcher,
  UpstreamSide,
} from '../../protocols/protocol.ts'
import type { AnswerReader, WholeAnswer } from '../answer-reader.ts'
import type { AnswerForm } from './answer-writer.ts'
import { KeepingWriter, SafeWriter, WholeWriter } from './answer-writer.ts'
import { TranslatingWatcher } from './translating-watcher.ts'

/** How to read the answer, and the request options that the gateway applies itself. */
type Decoding = DecodeAnswerContext & { keeps?: KeptOptions | undefined }

/** Reads an answer in the upstream's format and writes it in the client's. */
export class TranslatingReader implements AnswerReader {
  readonly contentType: string
  readonly #wanted: AnswerForm
  readonly #side: UpstreamSide
  readonly #decoding: Decoding
  readonly #answer: AnswerContext
  readonly #keepsAnswer: boolean

  constructor(
    wanted: AnswerForm,
    side: UpstreamSide,
    decoding: Decoding,
    answer: AnswerContext,
    keepsAnswer = false,
  ) {
    this.#wanted = wanted
    this.#keepsAnswer = keepsAnswer
    this.#side = side
    this.#decoding = decoding
    this.#answer = answer
    this.contentType = wanted.stream ? 'text/event-stream; charset=utf-8' : 'application/json'
  }

  stream(): StreamWatcher {
    const decoder = new SseDecoder(this.#side.decodeStream(this.#decoding), this.#wanted.frameBytesMax)
    const { client, stream } = this.#wanted
    return new TranslatingWatcher({
      decoder,
      writer: this.#writer(),
      keepAlive: stream ? client.keepAlive : '',
      sizeMax: this.#wanted.answerSizeMax,
    })
  }

  forOtherKind(): AnswerReader {
    return this
  }

  whole(body: Buffer): WholeAnswer {
    const observer = new EventObserver()
    const events = this.#eventsOf(body)
    const writer = this.#writer(this.#contextOf(events))
    let text = ''
    for (const event of events) {
      text += writer.push(event, (written) => observer.take(written))
    }
    const observation = { ...observer.observe(), losses: observer.losses }
    return { observation, body: Buffer.from(text) }
  }

  #eventsOf(body: Buffer): ChatEvent[] {
    try {
      const answer = parseKeepingDigits(body.toString('utf8'))
      if (isRecord(answer)) return this.#side.decodeResponse(answer, this.#decoding)
      if (Array.isArray(answer)) return this.#eventsOfList(answer)
    } catch (error) {
      if (error instanceof GatewayError) return [{ type: 'error', error }]
    }
    return []
  }

  /**
   * Gemini streams a JSON list unless server-sent events are requested:
   * https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
   */
  #eventsOfList(chunks: readonly unknown[]): ChatEvent[] {
    const decoder = this.#side.decodeStream(this.#decoding)
    const events = chunks.flatMap((chunk) => decoder.push(JSON.stringify(chunk)))
    events.push(...decoder.end())
    const end = events.findIndex(({ type }) => type === 'finish' || type === 'error')
    return end === -1 ? events : events.slice(0, end + 1)
  }

  #writer(answer = this.#answer): SafeWriter {
    const { client, stream } = this.#wanted
    const writer = stream
      ? client.encodeStream(answer)
      : new WholeWriter(client, (events) => this.#contextOf(events))
    const { keeps } = this.#decoding
    return new SafeWriter(keeps === undefined ? writer : new KeepingWriter(writer, keeps), this.#wanted)
  }

  #contextOf([first]: readonly ChatEvent[]): AnswerContext {
    const heldId = this.#keepsAnswer && first?.type === 'start' ? first.id : undefined
    return heldId === undefined ? this.#answer : { ...this.#answer, heldId }
  }
}
