import { GatewayError } from '../canonical/error.ts'
import type { ChatEvent } from '../canonical/event.ts'
import { isRecord } from '../canonical/json.ts'
import { SseDecoder } from '../protocols/decode-sse.ts'
import { EventObserver } from '../protocols/observe.ts'
import type {
  AnswerContext,
  DecodeAnswerContext,
  StreamWatcher,
  UpstreamSide,
} from '../protocols/protocol.ts'
import type { AnswerReader, WholeAnswer } from './answer-reader.ts'
import { SafeWriter, WholeWriter } from './answer-writer.ts'
import type { AnswerForm } from './translatable.ts'
import { TranslatingWatcher } from './translating-watcher.ts'

/** Reads an answer in the upstream's format, and writes it in the client's. */
export class TranslatingReader implements AnswerReader {
  readonly contentType: string
  readonly #wanted: AnswerForm
  readonly #side: UpstreamSide
  readonly #decoding: DecodeAnswerContext
  readonly #answer: AnswerContext
  readonly #keepsAnswer: boolean

  constructor(
    wanted: AnswerForm,
    side: UpstreamSide,
    decoding: DecodeAnswerContext,
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
    return { observation: observer.observe(), body: Buffer.from(text) }
  }

  #eventsOf(body: Buffer): ChatEvent[] {
    try {
      const answer: unknown = JSON.parse(body.toString('utf8'))
      if (isRecord(answer)) return this.#side.decodeResponse(answer, this.#decoding)
    } catch (error) {
      if (error instanceof GatewayError) return [{ type: 'error', error }]
    }
    return []
  }

  #writer(answer = this.#answer): SafeWriter {
    const { client, stream } = this.#wanted
    const writer = stream
      ? client.encodeStream(answer)
      : new WholeWriter(client, (events) => this.#contextOf(events))
    return new SafeWriter(writer, this.#wanted)
  }

  #contextOf([first]: readonly ChatEvent[]): AnswerContext {
    const heldId = this.#keepsAnswer && first?.type === 'start' ? first.id : undefined
    return heldId === undefined ? this.#answer : { ...this.#answer, heldId }
  }
}
