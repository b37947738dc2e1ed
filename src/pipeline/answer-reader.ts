import type {
  ClientSide,
  NativeSide,
  Observation,
  StreamWatcher,
  WatchOptions,
} from '../protocols/protocol.ts'

/** Reads an upstream's answer and returns the bytes for the client. */
export interface AnswerReader {
  /** The content type for the client; undefined means the upstream's. */
  readonly contentType: string | undefined
  /** Returns a watcher for an answer that the upstream streams. */
  stream(): StreamWatcher
  /**
   * Reads an answer that the upstream did not stream. Never throws: when something is wrong,
   * `observation.error` is set or `complete` is false.
   */
  whole(body: Buffer): WholeAnswer
  /**
   * Whether `whole` changes an answer that begins with these bytes. Such an answer must be held, however
   * large it is. When this is absent, `whole` never changes an answer.
   */
  rewrites?(begin: Buffer): boolean
  /** True if an answer that is neither JSON nor a stream of events is passed on as it arrives, unread. */
  readonly passesBytes?: boolean
  /**
   * Returns the reader for an answer that is streamed although the client did not request a stream, or the
   * reverse. The client gets the kind that it requested.
   */
  forOtherKind(): AnswerReader
}

export interface WholeAnswer {
  observation: Observation
  body: Buffer
}

/** Pass-through: every answer is sent to the client unchanged, except an answer of the wrong kind. */
export function readNative(
  side: Pick<NativeSide, 'watchResponse' | 'watchStream'>,
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

/** Pass-through of bytes such as audio. Every kind of answer reaches the client as the upstream sends it. */
export function readBytes(side: NonNullable<ClientSide['bytes']>, options: WatchOptions): AnswerReader {
  const reader: AnswerReader = { ...readNative(side, options, () => reader), passesBytes: true }
  return reader
}
