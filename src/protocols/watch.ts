import { GatewayError } from '../canonical/error.ts'
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
import { FrameEnds } from './sse.ts'

const context: DecodeAnswerContext = { upstreamModel: '' }

/**
 * Watches a stream by decoding it while its bytes are forwarded unchanged, for formats with small, typed
 * events. After an event that cannot be read, the stream continues, but the watcher only counts bytes.
 */
export function watchByDecoding(
  decodeStream: (context: DecodeAnswerContext) => EventDecoder,
  options: WatchOptions,
): StreamWatcher {
  return new DecodingWatcher(decodeStream(context), options.frameBytesMax)
}

/** The approximate size of a frame with one token, for streams that cannot be read. */
const unreadBytesPerToken = 120

class DecodingWatcher implements StreamWatcher {
  readonly isFollowed = true
  readonly #decoder: SseDecoder
  readonly #frames: WholeFrames
  readonly #observer = new EventObserver()
  #unreadBytes = 0
  #endedUnread = false

  constructor(decoder: EventDecoder, frameBytesMax: number) {
    this.#decoder = new SseDecoder(decoder, frameBytesMax)
    this.#frames = new WholeFrames(frameBytesMax)
  }

  push(chunk: Buffer): WatchedChunk {
    this.#take(this.#decoder.push(chunk))
    const isBlind = this.#decoder.failure !== undefined
    if (isBlind) this.#unreadBytes += chunk.length
    const { hasContent, isOver } = this.#observer
    return { forward: this.#frames.push(chunk), hasContent: hasContent || isBlind, terminal: isOver }
  }

  end(): Buffer | undefined {
    this.#take(this.#decoder.end())
    this.#endedUnread = this.#decoder.failure !== undefined
    // After an incomplete frame, the client could not read our error.
    return this.#observer.observe().error === undefined ? this.#frames.rest() : undefined
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

/**
 * Forwards only complete frames, so that anything the gateway sends next starts a new frame. Frames that are
 * too large are forwarded in pieces.
 */
class WholeFrames {
  readonly #bytesMax: number
  readonly #ends = new FrameEnds()
  #held: Buffer[] = []
  #heldBytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  push(chunk: Buffer): Buffer[] {
    this.#ends.begin(chunk)
    let whole = -1
    for (let end = this.#ends.next(0); end !== -1; end = this.#ends.next(end)) whole = end
    if (whole === chunk.length && this.#heldBytes === 0) return [chunk]
    const passed = whole === -1 ? [] : [...this.#take(), chunk.subarray(0, whole)]
    const rest = whole === -1 ? chunk : chunk.subarray(whole)
    if (rest.length > 0) this.#held.push(rest)
    this.#heldBytes += rest.length
    return this.#heldBytes > this.#bytesMax ? [...passed, ...this.#take()] : passed
  }

  rest(): Buffer | undefined {
    return this.#heldBytes === 0 ? undefined : Buffer.concat(this.#take())
  }

  #take(): Buffer[] {
    const held = this.#held
    this.#held = []
    this.#heldBytes = 0
    return held
  }
}

/**
 * Watches a complete answer by decoding it. Never throws: a body that is not an answer in this format is not
 * complete.
 */
export function watchResponseByDecoding(
  decodeResponse: UpstreamSide['decodeResponse'],
  body: Buffer,
): Observation {
  const observer = new EventObserver()
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'))
    if (isRecord(answer)) for (const event of decodeResponse(answer, context)) observer.take(event)
  } catch (error) {
    // The answer is incomplete. The observation keeps what was read so far, and the error.
    if (error instanceof GatewayError) return { ...observer.observe(), error }
  }
  return observer.observe()
}
