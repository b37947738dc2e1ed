import type { NativeSide, Observation, StreamWatcher, WatchOptions } from '../protocols/protocol.ts'

/** Reads an upstream's answer and says what of it the client gets. */
export interface AnswerReader {
  /** What the client gets, where that is not what the upstream said. */
  readonly contentType: string | undefined
  /** For an answer that the upstream streams. */
  stream(): StreamWatcher
  /** For an answer that came whole. Never throws: `observation.error` or not `complete` tells what is wrong. */
  whole(body: Buffer): WholeAnswer
  /** The reader for an upstream that streams unasked, or does not though it was asked: the client gets what it asked for. */
  forOtherKind(): AnswerReader
}

export interface WholeAnswer {
  observation: Observation
  body: Buffer
}

/** Pass-through: everything goes to the client as it came, but for an answer of the wrong kind. */
export function readNative(
  side: NativeSide,
  options: WatchOptions,
  forOtherKind: () => AnswerReader,
): AnswerReader {
  return {
    forOtherKind,
    contentType: undefined,
    stream: () => side.watchStream(options),
    whole: (body) => ({ observation: side.watchResponse(body), body }),
  }
}
