import type { ChatEvent } from '../canonical/event.ts'
import { isRecord } from '../canonical/json.ts'
import { SseDecoder } from './decode-sse.ts'
import { EventObserver } from './observe.ts'
import type {
  DecodeAnswerContext,
  EventDecoder,
  Observation,
  StreamWatcher,
  UpstreamSide,
  WatchedChunk,
  WatchOptions,
} from './protocol.ts'

const context: DecodeAnswerContext = { upstreamModel: '' }

/**
 * Watch a stream by decoding it while its bytes pass untouched, for formats whose every event is small and typed.
 * What cannot be read ends the watching, never the stream: what comes then is only weighed.
 */
export function watchByDecoding(
  decodeStream: (context: DecodeAnswerContext) => EventDecoder,
  options: WatchOptions,
): StreamWatcher {
  return new DecodingWatcher(new SseDecoder(decodeStream(context), options.frameBytesMax))
}

/** Bytes of a frame that carries one token, about; for streams that we cannot read. */
const unreadBytesPerToken = 120

class DecodingWatcher implements StreamWatcher {
  readonly #decoder: SseDecoder
  readonly #observer = new EventObserver()
  #unreadBytes = 0
  #endedUnread = false

  constructor(decoder: SseDecoder) {
    this.#decoder = decoder
  }

  push(chunk: Buffer): WatchedChunk {
    this.#take(this.#decoder.push(chunk))
    const isBlind = this.#decoder.failure !== undefined
    if (isBlind) this.#unreadBytes += chunk.length
    const { hasContent, isOver } = this.#observer
    return { forward: [chunk], hasContent: hasContent || isBlind, terminal: isOver }
  }

  end(): undefined {
    this.#take(this.#decoder.end())
    this.#endedUnread = this.#decoder.failure !== undefined
  }

  observe(): Observation {
    const observed = this.#observer.observe()
    if (this.#decoder.failure === undefined) return observed
    const unread = Math.ceil(this.#unreadBytes / unreadBytesPerToken)
    return {
      ...observed,
      complete: observed.complete || this.#endedUnread,
      outputTokensEstimate: observed.outputTokensEstimate + unread,
    }
  }

  #take(events: readonly ChatEvent[]): void {
    for (const event of events) {
      if (event.type === 'error' && event.error === this.#decoder.failure) return
      this.#observer.take(event)
    }
  }
}

/** Watch a whole answer by decoding it. Never throws: what is no answer of the format is not complete. */
export function watchResponseByDecoding(
  decodeResponse: UpstreamSide['decodeResponse'],
  body: Buffer,
): Observation {
  const observer = new EventObserver()
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'))
    if (isRecord(answer)) for (const event of decodeResponse(answer, context)) observer.take(event)
  } catch {
    // Not complete: what was read so far stands.
  }
  return observer.observe()
}
