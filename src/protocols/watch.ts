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
  WatchOptions,
} from './protocol.ts'

const context: DecodeAnswerContext = { upstreamModel: '' }

/**
 * Watch a stream by decoding it while its bytes pass untouched. For formats whose every event is small and typed;
 * a decoder that fails is told once, as the observation's error is not: the client gets the bytes as they came.
 */
export function watchByDecoding(
  decodeStream: (context: DecodeAnswerContext) => EventDecoder,
  options: WatchOptions,
): StreamWatcher {
  const observer = new EventObserver()
  const decoder = new SseDecoder(decodeStream(context), options.frameBytesMax)
  const take = (events: ChatEvent[]) => {
    for (const event of events) observer.take(event)
  }
  return {
    push(chunk) {
      take(decoder.push(chunk))
      return { forward: [chunk], hasContent: observer.hasContent, terminal: observer.isOver }
    },
    end() {
      take(decoder.end())
      return undefined
    },
    observe: () => observer.observe(),
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
